package dev.activator.throttle.policy;

/**
 * Counts running requests against the new destinations when a revision changes between its ClusterIP
 * and its pods. Which pod has a request is not known, so they are spread evenly where there is room.
 */
public final class CarryOver {
  private CarryOver() {}

  /**
   * How many to count against each destination. Requests that find no room count against every one,
   * so that none takes new requests before they end.
   *
   * @param running requests on the previous destinations
   * @param before what was counted until now; kept where possible
   * @param own requests with a permit of each destination
   * @param limit of one destination
   */
  public static int[] deal(int running, int[] before, int[] own, int limit) {
    var dealt = new int[own.length];
    if (limit == Subset.UNLIMITED || own.length == 0) {
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
