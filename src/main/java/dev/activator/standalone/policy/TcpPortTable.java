package dev.activator.standalone.policy;

import dev.activator.config.PortRange;
import dev.activator.revision.RevisionId;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The ports of the activators that lead to the TCP ports of ScaledServices, one for each. A port that a
 * status says belongs to that ScaledService, or to the oldest of several. The others get free ones,
 * the oldest first, which count once the status says them: so all activators listen on the same
 * ports, although only the elected one chooses.
 */
public final class TcpPortTable {
  private final Map<RevisionId, Numbers> all;

  /**
   * The ports of one ScaledService, by the name in its {@code spec.ports}.
   *
   * @param chosen what its status should say. A port that is missing gets none, as all are in use
   * @param open those that the status says already
   * @param range the ports that may be used
   */
  public record Numbers(Map<String, Integer> chosen, Map<String, Integer> open, PortRange range) {
    public static final Numbers NONE = new Numbers(Map.of(), Map.of(), PortRange.NONE);

    public Numbers {
      chosen = Map.copyOf(chosen);
      open = Map.copyOf(open);
    }
  }

  private TcpPortTable(Map<RevisionId, Numbers> all) {
    this.all = all;
  }

  public static TcpPortTable of(Collection<ScaledService> objects, PortRange range) {
    var byAge = objects.stream().filter(one -> !one.tcp().names().isEmpty())
        .sorted(ScaledService.BY_AGE).toList();
    var used = new HashSet<Integer>();
    var open = new HashMap<RevisionId, Map<String, Integer>>();
    byAge.forEach(object -> open.put(object.id(), open(object, range, used)));
    var free = IntStream.rangeClosed(range.first(), range.last())
        .filter(port -> !used.contains(port)).iterator();
    var all = new HashMap<RevisionId, Numbers>();
    for (var object : byAge) {
      var known = open.getOrDefault(object.id(), Map.of());
      var chosen = new TreeMap<>(known);
      for (var name : object.tcp().names()) {
        if (!chosen.containsKey(name) && free.hasNext()) {
          chosen.put(name, free.next());
        }
      }
      all.put(object.id(), new Numbers(chosen, known, range));
    }
    return new TcpPortTable(all);
  }

  private static Map<String, Integer> open(ScaledService object, PortRange range,
      Set<Integer> used) {
    var known = new TreeMap<String, Integer>();
    for (var name : object.tcp().names()) {
      var number = object.status().ports().get(name);
      if (number != null && range.has(number) && used.add(number)) {
        known.put(name, number);
      }
    }
    return known;
  }

  public Numbers of(ScaledService object) {
    return all.getOrDefault(object.id(), Numbers.NONE);
  }

  /** The ScaledServices that have other ports in another table. */
  public List<RevisionId> differences(TcpPortTable other) {
    return all.entrySet().stream()
        .filter(one -> !one.getValue().equals(other.all.get(one.getKey()))).map(Map.Entry::getKey)
        .toList();
  }
}
