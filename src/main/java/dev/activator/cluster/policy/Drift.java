package dev.activator.cluster.policy;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a fresh list says that we do not, and no watch tells us either.
 */
public final class Drift {
  private static final int NAMED = 10;

  private Drift() {}

  /**
   * The keys, in order, under which an object was lost, invented or left as it was: they differ from
   * the list, and nothing was heard of them from before it was asked for until long after.
   *
   * @param stored what we have, key to resourceVersion
   * @param listed what a list has that is not older than our request for it
   * @param heardOf keys that something was heard of since that request: theirs is only delay
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
