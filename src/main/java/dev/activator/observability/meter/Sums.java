package dev.activator.observability.meter;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What several loops counted, and several watches say of themselves, as one.
 *
 * <p>
 * <b>Threads.</b> One.
 */
public final class Sums {
  private final Map<Metric, Map<Tags, Point.Spread>> spreads = new EnumMap<>(Metric.class);
  private final Map<Metric, Map<Tags, Double>> values = new EnumMap<>(Metric.class);

  /** To add a distribution to. */
  public Point.Spread of(Metric metric, Tags tags) {
    return spreads.computeIfAbsent(metric, _ -> new LinkedHashMap<>()).computeIfAbsent(tags,
        it -> new Point.Spread(it, Objects.requireNonNull(metric.buckets(), metric.text())));
  }

  /** One more value; what it makes of those before it is the metric's. */
  public void add(Metric metric, Tags tags, double more) {
    values.computeIfAbsent(metric, _ -> new LinkedHashMap<>()).merge(tags, more, metric::together);
  }

  public List<Family> families() {
    var families = new ArrayList<Family>();
    values.forEach((metric, series) -> families.add(new Family(metric, series.entrySet().stream()
        .map(each -> new Point.Value(each.getKey(), each.getValue())).toList())));
    spreads.forEach(
        (metric, series) -> families.add(new Family(metric, List.copyOf(series.values()))));
    return families;
  }
}
