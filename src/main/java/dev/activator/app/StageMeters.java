package dev.activator.app;

import dev.activator.cluster.informer.InformerView;
import dev.activator.cluster.reflector.ReflectorView;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopDelay;
import dev.activator.observability.meter.Meters;
import dev.activator.observability.meter.Metric;
import dev.activator.throttle.ThrottleView;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Collection;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** What the stages know of themselves, as meters: each is asked when somebody reads. */
public final class StageMeters {
  private static final double NANOS = 1e9;

  private final Meters meters;

  public StageMeters(Meters meters) {
    this.meters = meters;
  }

  /** How many wait, and the oldest how long, over all revisions. */
  public void queues(Supplier<? extends Collection<ThrottleView>> views) {
    number(Metric.QUEUE_DEPTH,
        () -> views.get().stream().mapToInt(ThrottleView::queued).sum());
    number(Metric.QUEUE_OLDEST, () -> views.get().stream()
        .mapToLong(view -> view.oldestWait().toNanos()).max().orElse(0) / NANOS);
  }

  /** Bytes held for requests that wait, and how many there may be. */
  public void held(LongSupplier bytes, long limitBytes) {
    number(Metric.HELD_BYTES, bytes::getAsLong);
    number(Metric.HELD_LIMIT, () -> limitBytes);
  }

  /** What was seen and is not yet told, an informer a line. */
  public void informers(Supplier<List<InformerView>> informers) {
    meters.numbers(Metric.INFORMER_QUEUED, out -> informers.get()
        .forEach(view -> out.accept(Labels.of("resource", view.name()), (double) view.queued())));
  }

  /** @param clock that of the views' points in time */
  public void reflectors(Supplier<List<ReflectorView>> views, Loop clock) {
    reflectors(Metric.INFORMER_WATCHING, views, view -> view.health().watching() ? 1 : 0);
    reflectors(Metric.INFORMER_LISTS, views, view -> view.counts().lists());
    reflectors(Metric.INFORMER_FAILURES, views, view -> view.counts().failures());
    reflectors(Metric.INFORMER_DRIFT, views, view -> view.counts().drifted());
    reflectors(Metric.INFORMER_AGE, views,
        view -> (clock.nanoTime() - lastHeard(view)) / NANOS);
  }

  private static long lastHeard(ReflectorView view) {
    return view.lastEventNanos() - view.lastListNanos() > 0 && view.lastEventNanos() != 0
        ? view.lastEventNanos()
        : view.lastListNanos();
  }

  private void reflectors(Metric metric, Supplier<List<ReflectorView>> views,
      ToDoubleFunction<ReflectorView> value) {
    meters.numbers(metric, out -> views.get().stream()
        .filter(view -> view.health().listed())
        .forEach(view -> out.accept(Labels.of("resource", view.resource()),
            value.applyAsDouble(view))));
  }

  /** How late each event loop is. */
  public void loops(List<LoopDelay> delays) {
    for (int i = 0; i < delays.size(); i++) {
      var delay = delays.get(i);
      meters.number(Metric.LOOP_DELAY, Labels.of("loop", Integer.toString(i)),
          () -> delay.nanos() / NANOS);
    }
  }

  /** How near the process is to what it can do, from 0 to 1. */
  public void saturation(Saturation saturation) {
    number(Metric.SATURATION, saturation::now);
  }

  private void number(Metric metric, DoubleSupplier value) {
    meters.number(metric, Labels.EMPTY, value);
  }
}
