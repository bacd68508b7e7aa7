package dev.activator.cluster.policy;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Stored objects that differ from a fresh list without a watch event. */
public final class StoreDrift {
  private static final int NAMED = 10;

  private StoreDrift() {}

  /**
   * @param stored resourceVersion by key
   * @param listed the same, not older than the request for it
   * @param delivered keys the watch has delivered since; they are only late
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

  /** Names at most ten. */
  public static String named(Collection<String> keys) {
    var first = String.join(", ", keys.stream().limit(NAMED).toList());
    return keys.size() <= NAMED ? first : first + " and " + (keys.size() - NAMED) + " more";
  }
}
