package dev.activator.waking;

import dev.activator.revision.Destination;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import java.net.InetAddress;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the revision that made a call, by the address of its pod or by the trace. It only knows
 * revisions with an open episode.
 *
 * <p><b>Threads.</b> Any thread may read; one writes.
 */
public final class CallingRevisionLookup {
  private final Map<String, Set<RevisionId>> byAddress = new ConcurrentHashMap<>();
  private final Map<String, Set<RevisionId>> byTrace = new ConcurrentHashMap<>();
  private final Map<RevisionId, Set<String>> known = new ConcurrentHashMap<>();

  void put(RevisionId id, PodsByReadiness pods) {
    var now = pods.all().all().stream().map(CallingRevisionLookup::key).collect(Collectors.toSet());
    var before = known.put(id, now);
    if (before != null) {
      before.stream().filter(key -> !now.contains(key)).forEach(key -> remove(byAddress, key, id));
    }
    now.forEach(key -> add(byAddress, key, id));
  }

  /** @return whether the trace was new for the revision */
  boolean traced(String trace, RevisionId id) {
    boolean fresh = !byTrace.getOrDefault(trace, Set.of()).contains(id);
    add(byTrace, trace, id);
    return fresh;
  }

  void remove(RevisionId id, List<String> traces) {
    var keys = known.remove(id);
    if (keys != null) {
      keys.forEach(key -> remove(byAddress, key, id));
    }
    traces.forEach(trace -> remove(byTrace, trace, id));
  }

  private static void add(Map<String, Set<RevisionId>> all, String key, RevisionId id) {
    all.merge(key, Set.of(id), (before, more) -> {
      var both = new HashSet<>(before);
      both.addAll(more);
      return Set.copyOf(both);
    });
  }

  private static void remove(Map<String, Set<RevisionId>> all, String key, RevisionId id) {
    all.computeIfPresent(key, (_, before) -> {
      var left = new HashSet<>(before);
      left.remove(id);
      return left.isEmpty() ? null : Set.copyOf(left);
    });
  }

  /** The key of a pod. In embedded mode pods have the same address and differ by their ports. */
  private static String key(Destination pod) {
    var address = normalized(pod.host());
    return isLoopback(address) ? address + ":" + pod.port() : address;
  }

  static boolean isLoopback(String address) {
    return address.startsWith("127.") || address.equals("0:0:0:0:0:0:0:1");
  }

  /** The address in the form that sockets use, with IPv6 in its long spelling. */
  static String normalized(String address) {
    if (address.indexOf(':') < 0) {
      return address;
    }
    try {
      return InetAddress.ofLiteral(address).getHostAddress();
    } catch (IllegalArgumentException e) {
      return address;
    }
  }

  /** The revision whose pod has this address; empty if several revisions share it. */
  Collection<RevisionId> ofAddress(String address) {
    return only(byAddress.get(address));
  }

  /** Like {@link #ofAddress}, for embedded mode: by the port on which the pod listens. */
  Collection<RevisionId> ofLoopback(int port) {
    return only(byAddress.get("127.0.0.1:" + port));
  }

  private static Collection<RevisionId> only(@Nullable Set<RevisionId> all) {
    return all == null || all.size() > 1 ? Set.of() : all;
  }

  Collection<RevisionId> ofTrace(String trace) {
    return byTrace.getOrDefault(trace, Set.of());
  }
}
