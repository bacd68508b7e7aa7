package dev.activator.observability;

import dev.activator.observability.meter.Family;
import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.SharedDistribution;
import dev.activator.observability.meter.Sums;
import dev.activator.observability.meter.Tags;
import dev.activator.observability.request.HttpTraits;
import dev.activator.observability.request.LoopMeters;
import dev.activator.observability.request.RequestObserver;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/**
 * All that is counted and measured, each thing once; {@link PrometheusMeters} and {@link OtlpMeters}
 * show it. What is of a revision goes with it; what is told of it later is left out, and forgotten,
 * when the meters are read.
 *
 * <p>
 * <b>Threads.</b> Any may call; none waits for long.
 */
public final class Meters {
  /** Adds what it knows, for as long as it lasts. */
  @FunctionalInterface
  interface Source {
    void addTo(Sums sums);
  }

  private final Revisions revisions;
  private final List<Source> sources = new CopyOnWriteArrayList<>();
  private final List<LoopMeters> loops = new CopyOnWriteArrayList<>();
  private final Map<RevisionId, Double> concurrency = new ConcurrentHashMap<>();
  private final Map<Metric, Map<Tags, SharedDistribution>> measured = new EnumMap<>(Metric.class);

  /** @param revisions those that exist */
  public Meters(Revisions revisions) {
    this.revisions = revisions;
    sources.add(this::concurrencyTo);
    for (var metric : List.of(Metric.COLD_START, Metric.PROBES, Metric.REACTION)) {
      measured.put(metric, new ConcurrentHashMap<>());
    }
    sources.add(sums -> measured.forEach((metric, series) -> series
        .forEach((tags, each) -> each.addTo(sums.of(metric, tags)))));
  }

  /** One for the requests of one more loop. */
  RequestObserver onLoop() {
    var loop = new LoopMeters();
    loops.add(loop);
    sources.add(sums -> loop.addTo(sums, revisions));
    return loop;
  }

  /** A number that is asked for when it is read; while it is not one, there is no series. */
  public void number(Metric metric, Tags tags, DoubleSupplier value) {
    sources.add(sums -> {
      double now = value.getAsDouble();
      if (!Double.isNaN(now)) {
        sums.add(metric, tags, now);
      }
    });
  }

  /** Numbers by tags that are known only when they are read. */
  public void numbers(Metric metric, Consumer<BiConsumer<Tags, Double>> values) {
    sources.add(sums -> values.accept((tags, value) -> sums.add(metric, tags, value)));
  }

  /** One more of what happens now and then: a probe, or a start. */
  public void measured(Metric metric, Tags tags, Duration took) {
    var series = measured.get(metric);
    if (series == null) {
      throw new IllegalArgumentException(metric.text() + " is measured elsewhere");
    }
    series.computeIfAbsent(tags, _ -> new SharedDistribution(metric)).record(took.toNanos());
  }

  /** What the autoscaler was told of a revision. */
  public void reported(RevisionId revision, double averageConcurrency) {
    if (revisions.find(revision) != null) {
      concurrency.put(revision, averageConcurrency);
    }
  }

  /** The revision is deleted. */
  public void gone(RevisionId revision) {
    concurrency.remove(revision);
    loops.forEach(loop -> loop.gone(revision));
  }

  private void concurrencyTo(Sums sums) {
    concurrency.keySet().removeIf(id -> revisions.find(id) == null);
    concurrency.forEach((id, average) -> {
      var revision = revisions.find(id);
      if (revision != null) {
        sums.add(Metric.REQUEST_CONCURRENCY, HttpTraits.of(revision), average);
      }
    });
  }

  /** All there is now, in the order in which it is documented. */
  List<Family> read() {
    var sums = new Sums();
    sources.forEach(source -> source.addTo(sums));
    var families = new ArrayList<>(sums.families());
    families.sort((a, b) -> a.metric().compareTo(b.metric()));
    return families;
  }
}
