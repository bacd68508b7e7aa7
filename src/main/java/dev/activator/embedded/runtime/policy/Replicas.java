package dev.activator.embedded.runtime.policy;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * How to bring a Deployment to its number of pods. Pods of an earlier template stay until as many of
 * the current one are ready.
 *
 * @param missing pods to make
 * @param surplus names of pods to stop
 */
public record Replicas(int missing, List<String> surplus) {
  private static final Comparator<PodView> FIRST_TO_GO = Comparator.comparing(PodView::ready)
      .thenComparing(PodView::order, Comparator.reverseOrder());

  /** Pods that are not ready go first, then the youngest. */
  public static Replicas of(int wanted, Collection<PodView> current, Collection<PodView> earlier) {
    var counted = current.stream().filter(PodView::wanted).toList();
    int ready = (int) counted.stream().filter(PodView::ready).count();
    var replaced = earlier.stream().filter(PodView::wanted).toList();
    return new Replicas(Math.max(0, wanted - counted.size()),
        Stream.concat(firstToGo(counted, counted.size() - wanted),
            firstToGo(replaced, replaced.size() - Math.max(0, wanted - ready))).toList());
  }

  private static Stream<String> firstToGo(List<PodView> pods, int count) {
    return pods.stream().sorted(FIRST_TO_GO).limit(Math.max(0, count)).map(PodView::name);
  }
}
