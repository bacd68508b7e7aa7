package dev.activator.console;

import java.util.concurrent.Semaphore;

/**
 * Who watches, no more than so many at once.
 *
 * <p>
 * <b>Threads.</b> Any.
 */
final class Viewers {
  private final Semaphore places;
  private volatile boolean closed;

  Viewers(int most) {
    this.places = new Semaphore(most);
  }

  /** Whether there is room for one more, who then has to leave. */
  boolean enter() {
    return !closed && places.tryAcquire();
  }

  void leave() {
    places.release();
  }

  /** Lets nobody in any more. */
  void close() {
    closed = true;
  }
}
