package dev.activator.ext.affinity;

import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts where requests with keys ran, over all revisions.
 *
 * <p><b>Threads.</b> Any.
 */
final class AffinityCounts {
  private final LongAdder hits = new LongAdder();
  private final LongAdder spills = new LongAdder();
  private final LongAdder podsGone = new LongAdder();
  private final LongAdder evicted = new LongAdder();

  void granted(boolean isOwnPod) {
    (isOwnPod ? hits : spills).increment();
  }

  void podGone() {
    podsGone.increment();
  }

  void evicted() {
    evicted.increment();
  }

  void register(Meters meters) {
    meters.number(MetricDefinition.AFFINITY, Labels.of("pod", "own"), hits::sum);
    meters.number(MetricDefinition.AFFINITY, Labels.of("pod", "other"), spills::sum);
    meters.number(MetricDefinition.AFFINITY_LOST, Labels.of("reason", "pod-gone"), podsGone::sum);
    meters.number(MetricDefinition.AFFINITY_LOST, Labels.of("reason", "evicted"), evicted::sum);
  }
}
