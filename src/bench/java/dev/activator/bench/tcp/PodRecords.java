package dev.activator.bench.tcp;

import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAccumulator;

/**
 * What all pods have seen.
 *
 * <p><b>Threads.</b> Any.
 */
final class PodRecords {
  private final Map<Long, Integer> begun = new ConcurrentHashMap<>();
  private final Set<Long> complete = ConcurrentHashMap.newKeySet();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final LongAccumulator most = new LongAccumulator(Math::max, 0);

  void begun(long id, int pod) {
    var before = begun.putIfAbsent(id, pod);
    if (before != null) {
      wrong("pod " + pod + " got connection " + id + ", as pod " + before + " did");
    }
  }

  /** A pod had this many connections when the client of one had sent its first bytes. */
  void atOnce(int connections) {
    most.accumulate(connections);
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

  /** The highest number of connections that a pod had at once. */
  long most() {
    return most.get();
  }
}
