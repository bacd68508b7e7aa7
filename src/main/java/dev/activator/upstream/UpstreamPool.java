package dev.activator.upstream;

import org.jspecify.annotations.Nullable;

/** One loop's connections to one pod, in one version of HTTP. */
public interface UpstreamPool {
  interface Dial {
    /** Does not call the listener. Idempotent. */
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

    /**
     * How much longer to wait for a pod that is slow, but there; 0 for no longer. Positive while a
     * TLS handshake goes on, which has its own timeout, and for a second after it.
     */
    default long graceNanos() {
      return 0;
    }
  }

  /** As in a {@code Host} header. */
  String authority();

  /** Null if no open connection has room. It may be dead: see {@link #reuseChecked}. */
  @Nullable UpstreamConnection reuse(UpstreamListener listener);

  /** A connection that the kernel reports as open. */
  @Nullable UpstreamConnection reuseChecked(UpstreamListener listener);

  /** Why a dial would fail, known from a recent one. {@link #dial} does not check it. */
  default @Nullable UpstreamFailure refusal() {
    return null;
  }

  /** Calls the listener later, never inside the call. */
  Dial dial(UpstreamListener listener);
}
