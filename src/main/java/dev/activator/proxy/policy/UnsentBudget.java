package dev.activator.proxy.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * How many bytes of responses may be received and not yet sent, and which callers' connections are
 * ended first when there are more. Those that hold at least the mean come before the others, so a
 * caller that holds little is safe while another holds much; among them the one that would take
 * longest to read what is held for it comes first. A fast caller that holds much is so safe from a
 * slow one that holds as much.
 *
 * <p>
 * <b>Source.</b> Max-min fairness; the overload manager's {@code reset_high_memory_stream} in Envoy.
 *
 * @param bytes that may be unsent; more than 0
 */
public record UnsentBudget(long bytes) {
  /** Once it is exceeded, this part of the budget is freed, so that not each byte ends another. */
  private static final int FREED_PART = 8;

  private static final Comparator<Holding> SLOWEST = Comparator
      .comparingDouble(Holding::nanosToTake).thenComparingLong(Holding::bytes).reversed();

  /**
   * What one connection holds.
   *
   * @param index which connection it is
   * @param bytes received for it and not sent
   * @param taken bytes that its caller took of late
   * @param nanos the time in which it did
   */
  public record Holding(int index, long bytes, long taken, long nanos) {
    /** How long the caller would need for all of it, at its rate of late. */
    double nanosToTake() {
      return (double) bytes * Math.max(1, nanos) / Math.max(1, taken);
    }
  }

  /** How many bytes must be freed; 0 for none. */
  public long excess(long all) {
    return all <= bytes ? 0 : all - (bytes - bytes / FREED_PART);
  }

  /** Which connections are ended, in this order, until enough is free. */
  public List<Holding> order(List<Holding> holdings) {
    double mean = holdings.stream().mapToLong(Holding::bytes).average().orElse(0);
    var order = new ArrayList<>(holdings);
    order.sort(Comparator.<Holding, Boolean>comparing(one -> one.bytes() < mean)
        .thenComparing(SLOWEST));
    return order;
  }
}
