package dev.activator.throttle.policy;

/**
 * Counts running requests on the new destinations when a revision's routing changes between its
 * ClusterIP and its pods. It is unknown which pod runs a request, so the requests are spread
 * evenly.
 */
public final class InFlightCarryOver {
  private InFlightCarryOver() {}

  /**
   * Spreads the requests. Requests without room are counted on every destination, so that no
   * destination takes more requests before they end.
   *
   * @param running the number of requests on the previous destinations
   * @param before the last result; kept where possible
   * @param own the number of requests with a permit of each destination
   */
  public static int[] deal(int running, int[] before, int[] own, int limit) {
    var dealt = new int[own.length];
    if (limit == DestinationSubset.UNLIMITED || own.length == 0) {
      return dealt;
    }
    int left = running;
    for (int i = 0; i < own.length; i++) {
      dealt[i] = Math.clamp(limit - (long) own[i], 0, Math.min(left, before[i]));
      left -= dealt[i];
    }
    for (int found = 1; left > 0 && found > 0;) {
      found = 0;
      int share = Math.max(1, left / own.length);
      for (int i = 0; i < own.length; i++) {
        int more = Math.clamp((long) limit - own[i] - dealt[i], 0, Math.min(left, share));
        dealt[i] += more;
        left -= more;
        found += more;
      }
    }
    for (int i = 0; i < own.length; i++) {
      dealt[i] += left;
    }
    return dealt;
  }
}
