package dev.activator.upstream;

import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to one pod, in one version of HTTP.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
public interface UpstreamPool {
  /** Host and port as a {@code Host} header has them. */
  String authority();

  /**
   * Hands over a connection that is open, at once; null if none can serve one more request. It may
   * turn out dead when used: for a request that must not be sent twice, ask for a checked one.
   */
  @Nullable UpstreamConnection reuse(UpstreamListener listener);

  /** As {@link #reuse}, but the kernel knows nothing of the pod having closed it. */
  @Nullable UpstreamConnection reuseChecked(UpstreamListener listener);

  /** Opens a connection; the listener hears of it, or of the failure, later. */
  Dial dial(UpstreamListener listener);
}
