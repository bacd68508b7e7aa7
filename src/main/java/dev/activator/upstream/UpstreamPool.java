package dev.activator.upstream;

import org.jspecify.annotations.Nullable;

/**
 * The connections of one loop to one pod, in one version of HTTP.
 *
 * <p><b>Threads.</b> Only the loop.
 */
public interface UpstreamPool {
  interface Dial {
    /** The listener is not told. Idempotent. */
    void cancel();

    /**
     * Cancels a dial that took too long.
     *
     * @return what was missing
     */
    default UpstreamFailure timedOut() {
      cancel();
      return UpstreamFailure.TIMED_OUT;
    }
  }

  /** As in a {@code Host} header. */
  String authority();

  /**
   * Null if no open connection has room. The connection may be dead: use {@link #reuseChecked} for requests that are
   * not idempotent.
   */
  @Nullable UpstreamConnection reuse(UpstreamListener listener);

  /** Only a connection that the kernel reports as open. */
  @Nullable UpstreamConnection reuseChecked(UpstreamListener listener);

  /** Why a dial would fail, known from a recent one; null if unknown. {@link #dial} does not check it. */
  default @Nullable UpstreamFailure refusal() {
    return null;
  }

  /** The listener is told later, never inside the call. */
  Dial dial(UpstreamListener listener);
}
