package dev.activator.upstream;

/**
 * A connection that somebody waits for.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
public interface Dial {
  /** Gives up: the listener hears nothing. Nothing happens if it has heard already. */
  void cancel();
}
