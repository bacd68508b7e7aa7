package dev.activator.lending;

import java.util.concurrent.atomic.LongAdder;

/**
 * What lending has done since the start.
 *
 * <p><b>Threads.</b> Any.
 */
public final class LendingCounts {
  private final LongAdder lent = new LongAdder();
  private final LongAdder borrowed = new LongAdder();
  private final LongAdder recallsSent = new LongAdder();
  private final LongAdder recallsReceived = new LongAdder();
  private final LongAdder savedSeconds = new LongAdder();

  void lent() {
    lent.increment();
  }

  void borrowed(int permits) {
    borrowed.add(permits);
  }

  void recallSent() {
    recallsSent.increment();
  }

  void recallReceived() {
    recallsReceived.increment();
  }

  /** @param requests that would wait, in a sample of each second */
  void saved(int requests) {
    savedSeconds.add(requests);
  }

  /** Permits that were lent so far; the same one may be lent many times. */
  public long permitsLent() {
    return lent.sum();
  }

  public long permitsBorrowed() {
    return borrowed.sum();
  }

  public long sentRecalls() {
    return recallsSent.sum();
  }

  public long receivedRecalls() {
    return recallsReceived.sum();
  }

  /**
   * The time that requests did not have to wait: an estimate, at most the time for which they ran
   * on borrowed permits.
   */
  public long savedRequestSeconds() {
    return savedSeconds.sum();
  }
}
