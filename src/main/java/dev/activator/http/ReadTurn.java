package dev.activator.http;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * The share of a connection in each turn of its loop, in parts: frames of HTTP/2, or heads and parts
 * of bodies in HTTP/1. Parts beyond the share wait until other connections were read.
 *
 * <p><b>Threads.</b> Only its loop.
 */
public final class ReadTurn {
  /**
   * The maximum number of parts in a turn. For large parts this is about as much as one read; for
   * heads it is about a millisecond of work in compiled code.
   */
  public static final int MAX_PARTS = 64;
  /**
   * A head that comes later than this in a turn waits for the next turn, because uncompiled code
   * may need this long for a single head.
   */
  public static final long MAX_NANOS = 1_000_000;

  private final Loop loop;
  private final Runnable rest;
  private int partsLeft = MAX_PARTS;
  private boolean timed;
  private long dueNanos;
  private boolean over;
  private boolean lifted;

  /**
   * @param rest called when the next turn begins: handles the parts that wait, which may end that
   *     turn, too, and reads again
   */
  public ReadTurn(Loop loop, Runnable rest) {
    this.loop = loop;
    this.rest = rest;
  }

  /**
   * Whether a part that has come belongs to this turn. If not, the turn ends: pause reading, and
   * keep the part for the next one.
   */
  public boolean mayBegin() {
    return lifted || endsUnless(partsLeft > 0);
  }

  /** As {@link #mayBegin}, and whether the turn has time for a head. It has for its first one. */
  boolean mayBeginHead() {
    return lifted || endsUnless(partsLeft > 0 && isTimely());
  }

  private boolean isTimely() {
    long now = loop.nanoTime();
    if (!timed) {
      timed = true;
      dueNanos = now + MAX_NANOS;
    }
    return now - dueNanos < 0;
  }

  private boolean endsUnless(boolean goesOn) {
    if (!goesOn && !over) {
      over = true;
      // Unlike an executed task, a scheduled one runs after other connections were read.
      loop.schedule(Duration.ZERO, this::next);
    }
    return goesOn;
  }

  public void count(int parts) {
    partsLeft -= parts;
  }

  private void next() {
    over = false;
    begin();
    rest.run();
  }

  private void begin() {
    timed = false;
    partsLeft = MAX_PARTS;
  }

  public boolean isOver() {
    return over;
  }

  /** Call when all bytes of a read are handled, or when the turn is over. */
  public void readCompletes() {
    if (!over) {
      begin();
    }
  }

  /** Lets all parts pass from now on: the connection has ended, and what it sent is all there is. */
  public void lift() {
    lifted = true;
  }
}
