package dev.activator.throttle.policy;

/**
 * How requests that still run by another way count against the pods: those that were sent through
 * the ClusterIP once pods are addressed, or those sent to pods once the ClusterIP is. Which pod has
 * them is not known, so they are dealt evenly where there is room, as the ClusterIP spreads them.
 */
public final class CarryOver {
  private CarryOver() {}

  /**
   * How many to count against each destination. What finds no room counts against every one, so that
   * none takes a request before it has.
   *
   * @param running how many run by another way
   * @param before what was counted so until now; kept where it can be
   * @param own how many run on each destination itself
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
