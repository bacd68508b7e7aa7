package dev.activator.embedded.api.store;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The logs of pods, of the current run and of the one before. A pod has one container.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PodLogStore {
  private record Runs(ContainerLog current, @Nullable ContainerLog previous) {}

  private final Map<String, Runs> pods = new ConcurrentHashMap<>();

  public ContainerLog begin(String namespace, String pod) {
    return pods.compute(ObjectMeta.key(namespace, pod),
        (_, before) -> new Runs(new ContainerLog(), before == null ? null : before.current()))
        .current();
  }

  public void forget(String namespace, String pod) {
    pods.remove(ObjectMeta.key(namespace, pod));
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
