package dev.activator.upstream;

import org.jspecify.annotations.Nullable;

/** A connection pool of one event loop, for one pod and one version of HTTP. */
public interface UpstreamPool {
  interface Dial {
    /** Cancels the dial without calling the listener. Idempotent. */
    void cancel();

    /**
     * Cancels a dial that took too long.
     *
     * @return what the dial was waiting for
     */
    default UpstreamFailure timedOut() {
      cancel();
      return UpstreamFailure.TIMED_OUT;
    }

    /**
     * How much longer to wait for a pod that is slow but answers; 0 to give up. Positive during a
     * TLS handshake, which has its own timeout, and for a second after it.
     */
    default long graceNanos() {
      return 0;
    }
  }

  /** The pod's address as in a {@code Host} header. */
  String authority();

  /** An open connection; null if none has room. It may be dead (see {@link #reuseChecked}). */
  @Nullable UpstreamConnection reuse(UpstreamListener listener);

  /** Like {@link #reuse}, but only a connection that the kernel reports as open. */
  @Nullable UpstreamConnection reuseChecked(UpstreamListener listener);

  /**
   * Why a dial would fail, according to a recent one; null if it may succeed. {@link #dial} does
   * not check this.
   */
  default @Nullable UpstreamFailure refusal() {
    return null;
  }

  /** Calls the listener later, never inside the call. */
  Dial dial(UpstreamListener listener);
}
