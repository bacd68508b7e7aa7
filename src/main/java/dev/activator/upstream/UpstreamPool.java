package dev.activator.upstream;

import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop to one pod, in one version of HTTP.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
public interface UpstreamPool {
  /** A connection that a listener waits for. */
  interface Dial {
    /** Gives up: the listener is not told. Nothing happens if it was told already. */
    void cancel();

    /**
     * As {@link #cancel}, after a wait so long that the connection is not worth waiting for again.
     *
     * @return what was missing
     */
    default UpstreamFailure timedOut() {
      cancel();
      return UpstreamFailure.TIMED_OUT;
    }
  }

  /** Host and port as a {@code Host} header has them. */
  String authority();

  /**
   * Hands over an open connection at once; null if none can serve one more request. It may turn out
   * to be dead: for a request that is not idempotent, ask for a checked one.
   */
  @Nullable UpstreamConnection reuse(UpstreamListener listener);

  /** As {@link #reuse}, but not one that the pod has closed, as far as the kernel knows. */
  @Nullable UpstreamConnection reuseChecked(UpstreamListener listener);

  /**
   * Why a new connection would fail, known from one a few seconds ago; null if unknown. {@link #dial}
   * does not check it.
   */
  default @Nullable UpstreamFailure refusal() {
    return null;
  }

  /** Opens a connection; the listener is told of it, or of the failure, later. */
  Dial dial(UpstreamListener listener);
}
