package dev.activator.bench.tcp;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What all pods have seen.
 *
 * <p><b>Threads.</b> Any.
 */
final class PodRecords {
  /** A busy pod learns of the end of a connection later than of the beginning of the next one. */
  private static final long NOTICED_NANOS = 50_000_000;

  private final Map<Long, Integer> begun = new ConcurrentHashMap<>();
  private final Set<Long> complete = ConcurrentHashMap.newKeySet();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  /** Of each pod: its connections' beginnings and ends. */
  private final Map<Integer, List<long[]>> connections = new ConcurrentHashMap<>();

  void begun(long id, int pod) {
    var before = begun.putIfAbsent(id, pod);
    if (before != null) {
      wrong("pod " + pod + " got connection " + id + ", as pod " + before + " did");
    }
  }

  void ended(int pod, long opened) {
    long closed = System.nanoTime();
    if (closed - opened > NOTICED_NANOS) {
      connections.computeIfAbsent(pod, _ -> new CopyOnWriteArrayList<>())
          .add(new long[]{opened + NOTICED_NANOS, closed});
    }
  }

  /** A pod has got everything that the client sent. */
  void complete(long id) {
    complete.add(id);
  }

  boolean isComplete(long id) {
    return complete.contains(id);
  }

  void wrong(String what) {
    wrong.add(what);
  }

  Queue<String> wrong() {
    return wrong;
  }

  /** The highest number of connections that a pod had at once, of those that have ended. */
  int most() {
    return connections.values().stream().mapToInt(PodRecords::most).max().orElse(0);
  }

  private static int most(List<long[]> ofOnePod) {
    var changes = new TreeMap<Long, Integer>();
    for (var connection : ofOnePod) {
      changes.merge(connection[0], 1, Integer::sum);
      changes.merge(connection[1], -1, Integer::sum);
    }
    int now = 0;
    int most = 0;
    for (int change : changes.values()) {
      now += change;
      most = Math.max(most, now);
    }
    return most;
  }
}
