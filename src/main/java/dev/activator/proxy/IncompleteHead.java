package dev.activator.proxy;

import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.exchange.HeldRequestBytes;
import java.time.Duration;

/** A head that a caller has begun to send, or that is awaited: limited in time and in memory. */
final class IncompleteHead {
  private final Loop loop;
  private final Duration timeout;
  private final ResettableTimer timer;
  private final HeldRequestBytes.PartialHead counted;
  private long dueNanos;

  /**
   * @param timer its task calls {@link #isLate}
   * @param refuse called when all incomplete heads hold too much memory
   */
  IncompleteHead(Loop loop, Duration timeout, ResettableTimer timer, HeldRequestBytes.Share held,
      Runnable refuse) {
    this.loop = loop;
    this.timeout = timeout;
    this.timer = timer;
    this.counted = held.partialHead(refuse);
  }

  void await() {
    dueNanos = loop.nanoTime() + timeout.toNanos();
    timer.within(timeout);
  }

  /** If its time is not over, sets the timer again. */
  boolean isLate() {
    long left = dueNanos - loop.nanoTime();
    if (left > 0) {
      timer.within(left);
    }
    return left <= 0;
  }

  /** Counts it as held. May refuse this or another head. */
  void grew(int bytes, int fields) {
    counted.grew(HeldRequestBytes.ofHead(bytes, fields));
  }

  /** It is complete, or its connection has ended. */
  void ended() {
    counted.ended();
  }
}
