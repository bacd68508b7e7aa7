package dev.activator.proxy.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The limit of response bytes that callers leave unread, and the order in which connections are
 * ended above it. Only connections that hold at least the mean can be ended; the one that would take
 * longest to read its bytes goes first. So a slow reader harms neither fast readers nor those
 * that hold little. The largest first would end an ingress, and the slowest first mobile phones.
 *
 * <p><b>Source.</b> Max-min fairness; Envoy's {@code reset_high_memory_stream}.
 */
public record UnreadResponseBudget(long bytes) {
  /**
   * One of these parts of the budget is freed at a time, so that not every further byte ends a
   * connection.
   */
  private static final int FREED_PART = 8;

  private static final Comparator<Holding> SLOWEST = Comparator
      .comparingDouble(Holding::nanosToTake).thenComparingLong(Holding::bytes).reversed();

  /**
   * @param taken bytes read recently
   * @param nanos the time in which they were read
   */
  public record Holding(int index, long bytes, long taken, long nanos) {
    double nanosToTake() {
      return (double) bytes * Math.max(1, nanos) / Math.max(1, taken);
    }
  }

  public long excess(long all) {
    return all <= bytes ? 0 : all - (bytes - bytes / FREED_PART);
  }

  public List<Holding> order(List<Holding> holdings) {
    double mean = holdings.stream().mapToLong(Holding::bytes).average().orElse(0);
    var order = new ArrayList<>(holdings);
    order.sort(Comparator.<Holding, Boolean>comparing(one -> one.bytes() < mean)
        .thenComparing(SLOWEST));
    return order;
  }
}
