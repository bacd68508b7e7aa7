package dev.activator.testing.faults;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * One request and what became of it.
 *
 * <p><b>Threads.</b> Any thread may look; its connection's and its cache's add to it.
 */
public final class Call {
  private final Asked asked;
  private final Duration at;
  private final List<Fault> faults = new CopyOnWriteArrayList<>();
  private volatile Outcome outcome = new Outcome(End.OPEN, 0);

  /** How a call ended. */
  public enum End {
    /** Not yet. */
    OPEN,
    /** The answer was written to its end. */
    ANSWERED,
    /** The connection was gone before that. */
    BROKEN
  }

  /**
   * What became of a call.
   *
   * @param end whether and how it ended
   * @param status of the answer; 0 if there is none yet
   */
  public record Outcome(End end, int status) {}

  Call(Asked asked, Duration at) {
    this.asked = asked;
    this.at = at;
  }

  public Asked asked() {
    return asked;
  }

  /** When it came, since the server's faults began to look. */
  public Duration at() {
    return at;
  }

  /** What hit it, in order. */
  public List<Fault> faults() {
    return List.copyOf(faults);
  }

  public Outcome outcome() {
    return outcome;
  }

  void hitBy(Fault fault) {
    faults.add(fault);
  }

  void ended(End end, int status) {
    outcome = new Outcome(end, status);
  }

  @Override
  public String toString() {
    return asked + " -> " + outcome + (faults.isEmpty() ? "" : " after " + faults);
  }
}
