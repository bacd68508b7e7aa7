package dev.activator.meters;

import dev.activator.revision.ScalingView.KeepWarmEffect;
import dev.activator.kube.LeadershipStatus;
import dev.activator.revision.ScalingView;
import dev.activator.kube.informer.Informer.InformerStatus;
import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import dev.activator.kube.reflector.ReflectorStatus;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopDelay;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.RequestMeters;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.throttle.ThrottleView;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.proxy.AbusiveConnectionCounter;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Registers the metrics of the activator's parts, such as queues, held memory, connections and
 * pre-warmed starts.
 *
 * <p><b>Threads.</b> Any may read.
 */
public final class ActivatorMeters {
  private static final double NANOS = 1e9;
  private static final Labels ANSWERED = Labels.of("outcome", "answered");
  private static final Labels FAILED = Labels.of("outcome", "failed");
  /** Repeated attempts to connect, all of which were refused: they take the place of one probe. */
  private static final Labels REFUSED = Labels.of("outcome", "refused");
  private static final Labels AUTOSCALER = Labels.of("peer", "autoscaler");

  private final Meters meters;

  public ActivatorMeters(Meters meters) {
    this.meters = meters;
  }

  public void queues(Supplier<? extends Collection<ThrottleView>> views) {
    number(MetricDefinition.QUEUE_DEPTH,
        () -> views.get().stream().mapToInt(ThrottleView::queued).sum());
    number(MetricDefinition.QUEUE_OLDEST, () -> views.get().stream()
        .mapToLong(view -> view.oldestWait().toNanos()).max().orElse(0) / NANOS);
    number(MetricDefinition.QUEUE_NEWEST_FIRST,
        () -> views.get().stream().filter(ThrottleView::newestFirst).count());
  }

  public void held(LongSupplier bytes, long limitBytes) {
    number(MetricDefinition.HELD_BYTES, bytes::getAsLong);
    number(MetricDefinition.HELD_LIMIT, () -> limitBytes);
  }

  /** @param open the number of open connections, including idle ones */
  public void connections(IntSupplier open, IntSupplier idle) {
    meters.number(MetricDefinition.CLIENT_OPEN, Labels.of("http.connection.state", "active"),
        () -> Math.max(0, open.getAsInt() - idle.getAsInt()));
    meters.number(MetricDefinition.CLIENT_OPEN, Labels.of("http.connection.state", "idle"),
        idle::getAsInt);
  }

  public void unread(UnreadResponseBytes unread, long limitBytes) {
    number(MetricDefinition.UNREAD_BYTES, unread::total);
    number(MetricDefinition.UNREAD_LIMIT, () -> limitBytes);
    meters.number(MetricDefinition.UNREAD_ENDED, Labels.of("reason", "budget"),
        unread::endedOverBudget);
    meters.number(MetricDefinition.UNREAD_ENDED, Labels.of("reason", "idle"), unread::endedIdle);
  }

  public void ended(AbusiveConnectionCounter ended) {
    for (var reason : AbusiveConnectionCounter.Reason.values()) {
      meters.number(MetricDefinition.CONNECTIONS_ENDED, Labels.of("reason", reason.label()),
          () -> ended.count(reason));
    }
  }

  public void informers(Supplier<List<InformerStatus>> informers) {
    informers(MetricDefinition.INFORMER_QUEUED, informers, InformerStatus::queued);
    informers(MetricDefinition.INFORMER_MISSED, informers, InformerStatus::missedDeletions);
    informers(MetricDefinition.INFORMER_PENDING, informers,
        view -> view.listeners().stream().mapToInt(ListenerView::pending).sum());
    informers(MetricDefinition.INFORMER_PENDING_AGE, informers, view -> view.listeners().stream()
        .mapToLong(listener -> listener.oldest().toNanos()).max().orElse(0) / NANOS);
  }

  private void informers(MetricDefinition metric, Supplier<List<InformerStatus>> views,
      ToDoubleFunction<InformerStatus> value) {
    meters.numbers(metric, out -> views.get().forEach(
        view -> out.accept(Labels.of("resource", view.name()), value.applyAsDouble(view))));
  }

  public void reflectors(Supplier<List<ReflectorStatus>> views, Loop clock) {
    reflectors(MetricDefinition.INFORMER_WATCHING, views, view -> view.health().watching() ? 1 : 0);
    reflectors(MetricDefinition.INFORMER_LISTS, views, view -> view.counts().lists());
    reflectors(MetricDefinition.INFORMER_ENDS, views, view -> view.counts().ends());
    reflectors(MetricDefinition.INFORMER_FAILURES, views, view -> view.counts().failures());
    reflectors(MetricDefinition.INFORMER_DRIFT, views, view -> view.counts().drifted());
    reflectors(MetricDefinition.INFORMER_AGE, views,
        view -> (clock.nanoTime() - lastUpdate(view)) / NANOS);
  }

  private static long lastUpdate(ReflectorStatus view) {
    return view.lastEventNanos() - view.lastListNanos() > 0 && view.lastEventNanos() != 0
        ? view.lastEventNanos()
        : view.lastListNanos();
  }

  private void reflectors(MetricDefinition metric, Supplier<List<ReflectorStatus>> views,
      ToDoubleFunction<ReflectorStatus> value) {
    meters.numbers(metric, out -> views.get().stream()
        .filter(view -> view.health().listed())
        .forEach(view -> out.accept(Labels.of("resource", view.resource()),
            value.applyAsDouble(view))));
  }

  public void loops(List<LoopDelay> delays) {
    for (int i = 0; i < delays.size(); i++) {
      var delay = delays.get(i);
      meters.number(MetricDefinition.LOOP_DELAY, Labels.of("loop", Integer.toString(i)),
          () -> delay.nanos() / NANOS);
    }
  }

  public void saturation(ProcessSaturation now) {
    number(MetricDefinition.SATURATION, now);
  }

  public void readiness(ActivatorHealth health) {
    number(MetricDefinition.READY_WITHOUT_AUTOSCALER, () -> health.servesWithoutLink() ? 1 : 0);
  }

  public void leadership(Supplier<LeadershipStatus> now) {
    number(MetricDefinition.LEADER, () -> now.get().here() ? 1 : 0);
    number(MetricDefinition.LEADER_TRANSITIONS, () -> now.get().transitions());
    number(MetricDefinition.LEASE_AGE, () -> now.get().leaseAge().toNanos() / NANOS);
    number(MetricDefinition.LEASE_FAILURES, () -> now.get().failures());
    meters.numbers(MetricDefinition.SCALE_WRITES, out -> now.get().writes().forEach(
        (result, count) -> out.accept(Labels.of("result", result), count.doubleValue())));
  }

  public void woken(String method, Duration took) {
    meters.measured(MetricDefinition.WAKE, Labels.of("method", method), took);
  }

  private void keptWarm(MetricDefinition metric, Supplier<Collection<ScalingView>> views,
      ToDoubleFunction<KeepWarmEffect> value) {
    meters.numbers(metric, out -> views.get().forEach(view -> {
      if (view.keptWarm() != null) {
        out.accept(labels(view), value.applyAsDouble(view.keptWarm()));
      }
    }));
  }

  public void scaled(Supplier<Collection<ScalingView>> views) {
    pods(MetricDefinition.PODS_DESIRED, views, ScalingView::desired);
    pods(MetricDefinition.PODS_REQUESTED, views, ScalingView::replicas);
    pods(MetricDefinition.PODS_COUNT, views, ScalingView::current);
    pods(MetricDefinition.PODS_NOT_READY, views, view -> view.current().isPresent()
        ? OptionalInt.of(Math.max(0, view.current().getAsInt() - view.ready()))
        : OptionalInt.empty());
    keptWarm(MetricDefinition.KEEP_WARM_SAVED, views, KeepWarmEffect::saved);
    keptWarm(MetricDefinition.KEEP_WARM_COST, views, history -> history.cost().toMillis() / 1e3);
    meters.numbers(MetricDefinition.SCALE_HELD, out -> {
      var now = views.get();
      if (!now.isEmpty()) {
        out.accept(Labels.EMPTY,
            (double) now.stream().filter(view -> !view.note().isEmpty()).count());
      }
    });
  }

  private void pods(MetricDefinition metric, Supplier<Collection<ScalingView>> views,
      Function<ScalingView, OptionalInt> number) {
    meters.numbers(metric, out -> views.get().forEach(view -> number.apply(view).ifPresent(
        pods -> out.accept(labels(view), (double) pods))));
  }

  private static Labels labels(ScalingView view) {
    return Labels.of("k8s.namespace.name", view.id().namespace(), "kn.revision.name",
        view.id().name());
  }

  private void number(MetricDefinition metric, DoubleSupplier value) {
    meters.number(metric, Labels.EMPTY, value);
  }

  public ProbeClient probes(ProbeClient client) {
    return new ProbeClient() {
      @Override
      public void probe(Loop loop, ProbeRequest request, Consumer<ProbeResult> done) {
        long sent = loop.nanoTime();
        client.probe(loop, request, answer -> {
          boolean answered = answer instanceof ProbeResult.Answered
              || answer instanceof ProbeResult.Connected;
          meters.measured(MetricDefinition.PROBES, answered ? ANSWERED : FAILED,
              Duration.ofNanos(loop.nanoTime() - sent));
          done.accept(answer);
        });
      }

      @Override
      public void awaitListener(Loop loop, ProbeRequest next, Duration pause, Duration limit,
          Consumer<Boolean> refused) {
        long begun = loop.nanoTime();
        client.awaitListener(loop, next, pause, limit, isRefused -> {
          if (isRefused) {
            meters.measured(MetricDefinition.PROBES, REFUSED,
                Duration.ofNanos(loop.nanoTime() - begun));
          }
          refused.accept(isRefused);
        });
      }
    };
  }

  /**
   * A listener that records the state of the link. It reports an unknown state until the link first
   * connects.
   */
  public AutoscalerLink.Listener link() {
    return new Link(meters);
  }

  private static final class Link implements AutoscalerLink.Listener {
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile double reachable = Double.NaN;

    Link(Meters meters) {
      meters.number(MetricDefinition.LINK_REACHABLE, AUTOSCALER, () -> reachable);
      meters.number(MetricDefinition.LINK_ERRORS, AUTOSCALER, lost::get);
      meters.number(MetricDefinition.LINK_FAILED_DIALS, Labels.EMPTY, failed::get);
    }

    @Override
    public void connected() {
      reachable = 1;
    }

    @Override
    public void lost() {
      reachable = 0;
      lost.incrementAndGet();
    }

    @Override
    public void failed() {
      failed.incrementAndGet();
    }
  }

  public static StatSink stats(StatSink sink, RequestMeters meters) {
    return new StatSink() {
      @Override
      public void atOnce(List<RevisionStat> stats) {
        sink.atOnce(stats);
      }

      @Override
      public void report(List<RevisionStat> stats) {
        sink.report(stats);
        stats.forEach(stat -> meters.reported(stat.revision(), stat.averageConcurrency()));
      }
    };
  }
}
