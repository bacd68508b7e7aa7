package dev.activator.cluster.policy;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds stored objects that differ from a fresh list although the watch delivered no event of them.
 */
public final class Drift {
  private static final int NAMED = 10;

  private Drift() {}

  /**
   * The keys, in order, whose objects are missing, deleted or stale in the store.
   *
   * @param stored key to resourceVersion of what is stored
   * @param listed the same of a list that is not older than the request for it
   * @param heardOf keys that the watch delivered since that request: their difference is only delay
   */
  public static Set<String> between(Map<String, String> stored, Map<String, String> listed,
      Set<String> heardOf) {
    var adrift = new TreeSet<String>();
    stored.forEach((key, version) -> {
      if (!version.equals(listed.get(key))) {
        adrift.add(key);
      }
    });
    listed.keySet().stream().filter(key -> !stored.containsKey(key)).forEach(adrift::add);
    adrift.removeAll(heardOf);
    return adrift;
  }

  /** At most ten of the keys, and how many more there are. */
  public static String named(Collection<String> keys) {
    var first = String.join(", ", keys.stream().limit(NAMED).toList());
    return keys.size() <= NAMED ? first : first + " and " + (keys.size() - NAMED) + " more";
  }
}
