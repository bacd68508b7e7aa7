package dev.activator.kube.policy;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds stored objects that differ from a fresh list although the watch has delivered no event for
 * them.
 */
public final class StoreDrift {
  private static final int NAMED = 10;

  private StoreDrift() {}

  /**
   * @param stored the stored resourceVersion of each key
   * @param listed the resourceVersion of each key in a list that is not older than its request
   * @param delivered the keys that the watch has delivered since then; their events were only late
   */
  public static Set<String> between(Map<String, String> stored, Map<String, String> listed,
      Set<String> delivered) {
    var adrift = new TreeSet<String>();
    stored.forEach((key, version) -> {
      if (!version.equals(listed.get(key))) {
        adrift.add(key);
      }
    });
    listed.keySet().stream().filter(key -> !stored.containsKey(key)).forEach(adrift::add);
    adrift.removeAll(delivered);
    return adrift;
  }

  /** The keys as text, which names at most ten of them. */
  public static String named(Collection<String> keys) {
    var first = String.join(", ", keys.stream().limit(NAMED).toList());
    return keys.size() <= NAMED ? first : first + " and " + (keys.size() - NAMED) + " more";
  }
}
