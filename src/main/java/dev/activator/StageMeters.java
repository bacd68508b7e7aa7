package dev.activator;

import dev.activator.cluster.Cluster;
import dev.activator.cluster.reflector.ReflectorView;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopDelay;
import dev.activator.observability.Meters;
import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Tags;
import dev.activator.proxy.ProxyServer;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;

/** What the stages know of themselves, as meters: each is asked when somebody reads. */
final class StageMeters {
  private static final double NANOS = 1e9;

  private final Meters meters;

  StageMeters(Meters meters) {
    this.meters = meters;
  }

  void queues(Throttler throttler) {
    number(Metric.QUEUE_DEPTH,
        () -> throttler.views().stream().mapToInt(ThrottleView::queued).sum());
    number(Metric.QUEUE_OLDEST, () -> throttler.views().stream()
        .mapToLong(view -> view.oldestWait().toNanos()).max().orElse(0) / NANOS);
  }

  void held(ProxyServer server, long limitBytes) {
    number(Metric.HELD_BYTES, server::heldBytes);
    number(Metric.HELD_LIMIT, () -> limitBytes);
  }

  void informers(Cluster cluster, Loop clock) {
    reflectors(Metric.INFORMER_WATCHING, cluster, view -> view.health().watching() ? 1 : 0);
    reflectors(Metric.INFORMER_LISTS, cluster, view -> view.counts().lists());
    reflectors(Metric.INFORMER_FAILURES, cluster, view -> view.counts().failures());
    reflectors(Metric.INFORMER_DRIFT, cluster, view -> view.counts().drifted());
    reflectors(Metric.INFORMER_AGE, cluster,
        view -> (clock.nanoTime() - lastHeard(view)) / NANOS);
    meters.numbers(Metric.INFORMER_QUEUED, out -> cluster.informers()
        .forEach(view -> out.accept(Tags.of("resource", view.name()), (double) view.queued())));
  }

  private static long lastHeard(ReflectorView view) {
    return view.lastEventNanos() - view.lastListNanos() > 0 && view.lastEventNanos() != 0
        ? view.lastEventNanos()
        : view.lastListNanos();
  }

  private void reflectors(Metric metric, Cluster cluster, ToDoubleFunction<ReflectorView> value) {
    meters.numbers(metric, out -> cluster.reflectors().stream()
        .filter(view -> view.health().listed())
        .forEach(view -> out.accept(Tags.of("resource", view.resource()),
            value.applyAsDouble(view))));
  }

  void loops(List<LoopDelay> delays) {
    for (int i = 0; i < delays.size(); i++) {
      var delay = delays.get(i);
      meters.number(Metric.LOOP_DELAY, Tags.of("loop", Integer.toString(i)),
          () -> delay.nanos() / NANOS);
    }
  }

  void saturation(Saturation saturation) {
    number(Metric.SATURATION, saturation::now);
  }

  private void number(Metric metric, DoubleSupplier value) {
    meters.number(metric, Tags.NONE, value);
  }
}
