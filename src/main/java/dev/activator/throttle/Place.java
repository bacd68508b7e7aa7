package dev.activator.throttle;

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
}
