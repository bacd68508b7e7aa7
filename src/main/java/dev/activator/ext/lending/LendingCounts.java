package dev.activator.ext.lending;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the permits and messages of lending since the start.
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

  /** @param the number of requests that would wait without lending, sampled once a second */
  void saved(int requests) {
    savedSeconds.add(requests);
  }

  /** The number of permits lent so far; the same permit may be lent many times. */
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
   * An estimate of the time that lending saved requests from waiting. It is at most the time for
   * which they ran on borrowed permits.
   */
  public long savedRequestSeconds() {
    return savedSeconds.sum();
  }
}
