package dev.activator.ext.lending.policy;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Divides idle permits among activators by the age of the requests that wait there, oldest first.
 *
 * @param given the number of permits for each claim, in the order of the claims
 * @param recalled how many permits each activator should return as its requests end, for requests
 *     elsewhere that have waited for longer and got none; in the order of the claims
 */
@SuppressWarnings("ArrayRecordComponent") // read at once, never compared
public record IdlePermitDivision(int[] given, int[] recalled) {
  /**
   * Requests that wait at one activator.
   *
   * @param sinceNanos when the oldest began to wait; the others are assumed to have come evenly
   *     distributed since then
   */
  public record Claim(int queued, long sinceNanos) {
    private long since(int position, long nowNanos) {
      return sinceNanos + stepNanos(nowNanos) * position;
    }

    private long stepNanos(long nowNanos) {
      return (nowNanos - sinceNanos) / Math.max(1, queued);
    }
  }

  private record Next(int claim, int position, long sinceNanos) {}

  /**
   * Gives idle permits to the oldest requests.
   *
   * @param idle the number of idle permits
   * @param toleranceNanos permits are not recalled for a smaller difference in age, because a
   *     permit is idle while it moves
   */
  public static IdlePermitDivision divide(int idle, List<Claim> claims, long nowNanos,
      long toleranceNanos) {
    int[] given = new int[claims.size()];
    var waiting = new PriorityQueue<Next>(
        Comparator.<Next>comparingLong(it -> it.sinceNanos() - nowNanos)
            .thenComparingInt(Next::claim));
    for (int i = 0; i < claims.size(); i++) {
      if (claims.get(i).queued() > 0) {
        waiting.add(new Next(i, 0, claims.get(i).sinceNanos()));
      }
    }
    for (int left = idle; left > 0 && !waiting.isEmpty(); left--) {
      var next = waiting.remove();
      given[next.claim()]++;
      int position = next.position() + 1;
      var claim = claims.get(next.claim());
      if (position < claim.queued()) {
        waiting.add(new Next(next.claim(), position, claim.since(position, nowNanos)));
      }
    }
    return new IdlePermitDivision(given,
        recalled(claims, List.copyOf(waiting), nowNanos, toleranceNanos));
  }

  private static int[] recalled(List<Claim> claims, List<Next> unmet, long nowNanos,
      long toleranceNanos) {
    int[] recalled = new int[claims.size()];
    for (int holder = 0; holder < recalled.length; holder++) {
      long own = Long.MAX_VALUE;
      for (var next : unmet) {
        if (next.claim() == holder) {
          own = next.sinceNanos() - nowNanos - toleranceNanos;
        }
      }
      long older = 0;
      for (var next : unmet) {
        if (next.claim() != holder) {
          older += olderThan(claims.get(next.claim()), next.position(), own, nowNanos);
        }
      }
      recalled[holder] = (int) Math.min(older, Integer.MAX_VALUE);
    }
    return recalled;
  }

  private static long olderThan(Claim claim, int position, long limit, long nowNanos) {
    long rest = claim.queued() - position;
    long first = claim.since(position, nowNanos) - nowNanos;
    long step = claim.stepNanos(nowNanos);
    if (first >= limit) {
      return 0;
    }
    return limit == Long.MAX_VALUE || step <= 0
        ? rest
        : Math.min(rest, Math.ceilDiv(limit - first, step));
  }
}
