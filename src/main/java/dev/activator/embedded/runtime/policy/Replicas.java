package dev.activator.embedded.runtime.policy;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

public record Replicas(int missing, List<String> surplus) {
  private static final Comparator<PodView> FIRST_TO_GO = Comparator.comparing(PodView::ready)
      .thenComparing(PodView::order, Comparator.reverseOrder());

  /** Stops pods that are not ready first, then the youngest. */
  public static Replicas of(int wanted, Collection<PodView> pods) {
    var counted = pods.stream().filter(PodView::wanted).sorted(FIRST_TO_GO).toList();
    int surplus = Math.max(0, counted.size() - wanted);
    return new Replicas(Math.max(0, wanted - counted.size()),
        counted.subList(0, surplus).stream().map(PodView::name).toList());
  }
}
