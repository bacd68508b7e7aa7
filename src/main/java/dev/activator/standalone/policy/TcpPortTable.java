package dev.activator.standalone.policy;

import dev.activator.config.NamespaceHostRules;
import dev.activator.config.PortRange;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.policy.ConnectionPorts.ConnectionPort;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How connections come to the TCP ports of ScaledServices: by a port of the activators for each, or by
 * the server name that a TLS client sends to one port of theirs.
 *
 * <p>A port that a status says belongs to that ScaledService, or to the oldest of several. The others
 * get free ones, as does one whose port another program has, the oldest first. They count once the
 * status says them: so all activators listen on
 * the same ports, although only the elected one chooses. A server name belongs to the oldest that
 * claims it.
 */
public final class TcpPortTable {
  private final Map<RevisionId, Assigned> all;

  /**
   * What this installation allows.
   *
   * @param range the ports of the activators that may be used
   * @param sni whether activators have a port for TLS connections by server name
   * @param domains which server names a namespace may claim
   */
  public record Allowed(PortRange range, boolean sni, NamespaceHostRules domains) {
    /** Nothing. */
    public static final Allowed NONE = new Allowed(PortRange.NONE, false, NamespaceHostRules.ANY);
  }

  /**
   * How connections come to one ScaledService, by the name in its {@code spec.ports}.
   *
   * @param chosen the ports of the activators that its status should say
   * @param open those that the status says already
   * @param sni its server names
   * @param troubles what it claims and does not get
   */
  public record Assigned(Map<String, Integer> chosen, Map<String, Integer> open,
      Map<String, List<String>> sni, List<Trouble> troubles) {
    public static final Assigned NONE = new Assigned(Map.of(), Map.of(), Map.of(), List.of());

    public Assigned {
      chosen = Map.copyOf(chosen);
      open = Map.copyOf(open);
      sni = Map.copyOf(sni);
      troubles = List.copyOf(troubles);
    }
  }

  private TcpPortTable(Map<RevisionId, Assigned> all) {
    this.all = all;
  }

  /**
   * @param taken the ports of the activators that other programs have, and which are used only if no
   *     other is free
   * @param services the Service of a ScaledService; null if it does not exist
   */
  public static TcpPortTable of(Collection<ScaledService> objects, Allowed allowed,
      Set<Integer> taken, Function<ScaledService, @Nullable KubernetesService> services) {
    var byAge = objects.stream().filter(one -> !one.tcp().ports().isEmpty())
        .sorted(ScaledService.byAge()).toList();
    var used = new HashSet<Integer>();
    var ports = new HashMap<RevisionId, List<ConnectionPort>>();
    var open = new HashMap<RevisionId, Map<String, Integer>>();
    for (var object : byAge) {
      // A port that is another field's gets no connections.
      var own = ServedPort.connections(object, services.apply(object));
      ports.put(object.id(), own);
      open.put(object.id(), open(object, own, allowed, used));
    }
    var free = new ArrayDeque<Integer>();
    IntStream.rangeClosed(allowed.range.first(), allowed.range.last())
        .filter(port -> !used.contains(port)).boxed()
        .sorted(Comparator.comparing(taken::contains)).forEach(free::add);
    var owners = new HashMap<String, RevisionId>();
    var all = new HashMap<RevisionId, Assigned>();
    for (var object : byAge) {
      var known = open.getOrDefault(object.id(), Map.of());
      var chosen = new TreeMap<>(known);
      var servers = new TreeMap<String, List<String>>();
      var troubles = new ArrayList<Trouble>();
      for (var port : ports.getOrDefault(object.id(), List.of())) {
        if (needsNumber(object, port, allowed)) {
          choose(port, chosen, free, taken);
          var number = chosen.get(port.name());
          if (number == null) {
            troubles.add(noneFree(port, allowed.range));
          } else if (taken.contains(number)) {
            troubles.add(new Trouble("PortInUse", "the activators cannot listen on port " + number
                + ", which leads to port " + port.name() + ": another program has it"));
          }
        }
        servers.put(port.name(), sni(object, port, allowed, owners, troubles));
      }
      all.put(object.id(), new Assigned(chosen, known, servers, troubles));
    }
    return new TcpPortTable(all);
  }

  /** Keeps the port that it has, unless another program has that, and there is another one. */
  private static void choose(ConnectionPort port, Map<String, Integer> chosen,
      Queue<Integer> free, Set<Integer> taken) {
    var known = chosen.get(port.name());
    var next = free.peek();
    if (next != null && (known == null || taken.contains(known) && !taken.contains(next))) {
      chosen.put(port.name(), free.remove());
    }
  }

  private static boolean needsNumber(ScaledService object, ConnectionPort port, Allowed allowed) {
    return port.sni().isEmpty() || !allowed.sni || object.catchService();
  }

  private static Map<String, Integer> open(ScaledService object, List<ConnectionPort> ports,
      Allowed allowed, Set<Integer> used) {
    var known = new TreeMap<String, Integer>();
    for (var port : ports) {
      var number = object.status().ports().get(port.name());
      if (number != null && needsNumber(object, port, allowed) && allowed.range.has(number)
          && used.add(number)) {
        known.put(port.name(), number);
      }
    }
    return known;
  }

  private static Trouble noneFree(ConnectionPort port, PortRange range) {
    return new Trouble("NoFreeTcpPort", "no port of the activators leads to port " + port.name()
        + (range.isEmpty()
            ? ": activator.standalone.tcp-ports is not set"
            : ": other ScaledServices have all of activator.standalone.tcp-ports (" + range + ")"));
  }

  private static List<String> sni(ScaledService object, ConnectionPort port, Allowed allowed,
      Map<String, RevisionId> owners, List<Trouble> troubles) {
    if (!allowed.sni && !port.sni().isEmpty()) {
      troubles.add(new Trouble("SniNotEnabled", "no connection comes to port " + port.name()
          + " by its server name: activator.standalone.sni-port is not set"));
      return List.of();
    }
    var own = new ArrayList<String>();
    for (var name : port.sni()) {
      if (!allowed.domains.allow(object.id().namespace(), name)) {
        troubles.add(ScaledServiceTroubles.hostNotAllowed(object, name));
        continue;
      }
      var by = owners.putIfAbsent(name, object.id());
      if (by == null) {
        own.add(name);
      } else {
        troubles.add(new Trouble("SniTaken", "the server name " + name + " of port " + port.name()
            + " belongs to " + (by.equals(object.id())
                ? "another port"
                : "ScaledService " + by)));
      }
    }
    return own;
  }

  public Assigned of(ScaledService object) {
    return all.getOrDefault(object.id(), Assigned.NONE);
  }

  /** The ScaledServices to which other ports or names lead in another table. */
  public List<RevisionId> differences(TcpPortTable other) {
    return all.entrySet().stream()
        .filter(one -> !one.getValue().equals(other.all.get(one.getKey()))).map(Map.Entry::getKey)
        .toList();
  }
}
