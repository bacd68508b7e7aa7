package dev.activator.embedded.api.store;

import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The logs of pods, of the current run and of the one before, for a while also those of pods that
 * are gone. A pod has one container.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PodLogStore {
  private record Runs(ContainerLog current, @Nullable ContainerLog previous) {}

  /** The limit of pods that are gone. The oldest ones are dropped. */
  private static final int MAX_ENDED = 50;

  private final Map<String, Runs> pods = new ConcurrentHashMap<>();
  /** The last objects of pods that are gone. */
  private final Map<String, ObjectNode> ended = Collections.synchronizedMap(new LinkedHashMap<>());

  public ContainerLog begin(String namespace, String pod) {
    return pods.compute(ObjectMeta.key(namespace, pod),
        (_, before) -> new Runs(new ContainerLog(), before == null ? null : before.current()))
        .current();
  }

  /** Keeps the log of a pod that is gone, until it is forgotten. */
  public void end(String namespace, String pod, @Nullable ObjectNode last) {
    if (last != null && current(namespace, pod) != null) {
      ended.put(ObjectMeta.key(namespace, pod), last);
    }
    synchronized (ended) {
      while (ended.size() > MAX_ENDED) {
        forget(ended.keySet().iterator().next());
      }
    }
  }

  /** The last state of a pod that is gone; null if its log is not kept. */
  public @Nullable ObjectNode ended(String namespace, String pod) {
    return ended.get(ObjectMeta.key(namespace, pod));
  }

  public void forget(String namespace, String pod) {
    forget(ObjectMeta.key(namespace, pod));
  }

  private void forget(String key) {
    ended.remove(key);
    pods.remove(key);
  }

  /**
   * The log of the current run, or of the last one if none runs; null if the container never ran.
   */
  public @Nullable ContainerLog current(String namespace, String pod) {
    var runs = pods.get(ObjectMeta.key(namespace, pod));
    return runs == null ? null : runs.current();
  }

  /** The log of the run before; null if there was none. */
  public @Nullable ContainerLog previous(String namespace, String pod) {
    var runs = pods.get(ObjectMeta.key(namespace, pod));
    return runs == null ? null : runs.previous();
  }

  /** The last lines of several pods together, from both runs of each. */
  public List<String> last(String namespace, Collection<String> pods, int max) {
    var lines = pods.stream()
        .flatMap(pod -> Stream.of(previous(namespace, pod), current(namespace, pod))
            .filter(Objects::nonNull))
        .flatMap(output -> output.lines().stream())
        .sorted(Comparator.comparing(ContainerLog.Line::time)).map(ContainerLog.Line::text)
        .toList();
    return lines.subList(Math.max(0, lines.size() - max), lines.size());
  }
}
