package dev.activator.throttle.admission;

import java.time.Duration;

/**
 * A place in a revision's queue.
 *
 * <p>
 * <b>Threads.</b> Only the waiter's own loop may call.
 */
public non-sealed interface Place extends Admission {
  /**
   * Leaves the queue. From now on the waiter is not called; a permit already on its way goes to the
   * next in the queue. Nothing happens if the waiter was called before.
   */
  void giveUp();

  /** How long a request of this revision may wait, from its arrival; zero for no such limit. */
  Duration timeout();

  /** When its caller may come again, should it be refused now. */
  int retryAfterSeconds();

  /** Counts so many more bytes, or fewer, that waiting requests of this revision hold, bodies too. */
  void hold(int moreBytes);

  /** How many bytes the waiting requests of this revision hold. */
  long heldBytes();
}
