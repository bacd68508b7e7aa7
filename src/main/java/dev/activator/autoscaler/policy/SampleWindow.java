package dev.activator.autoscaler.policy;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

public record SampleWindow(SortedMap<Long, SortedMap<String, Part>> seconds) {
  public static final SampleWindow EMPTY = new SampleWindow(new TreeMap<>());

  public static final int LENGTH_SECONDS = 6;

  /**
   * One reporter's share of one second.
   *
   * @param regular the highest of its regular reports: two in one second mean that one was late
   * @param first its immediate report of a first request, which the regular report leaves out
   */
  public record Part(double regular, double first) {
    private static final Part NONE = new Part(0, 0);

    double concurrency() {
      return regular + first;
    }
  }

  public SampleWindow {
    seconds = Collections.unmodifiableSortedMap(seconds);
  }

  SampleWindow plus(long second, Sample sample) {
    var kept = recent(second);
    var parts = new TreeMap<>(kept.getOrDefault(second, new TreeMap<>()));
    var part = parts.getOrDefault(sample.reporter(), Part.NONE);
    parts.put(sample.reporter(), isFirst(second, sample)
        ? new Part(part.regular(), sample.concurrency())
        : new Part(Math.max(part.regular(), sample.concurrency()), part.first()));
    kept.put(second, Collections.unmodifiableSortedMap(parts));
    return new SampleWindow(kept);
  }

  SampleWindow at(long second) {
    return new SampleWindow(recent(second));
  }

  double average(long second) {
    double sum = 0;
    for (long past = second - LENGTH_SECONDS; past < second; past++) {
      sum += total(past);
    }
    return sum / LENGTH_SECONDS;
  }

  /** In the last complete second, or in this one if higher. */
  double latest(long second) {
    return Math.max(total(second - 1), total(second));
  }

  boolean idle() {
    return seconds.values().stream().flatMap(parts -> parts.values().stream())
        .allMatch(part -> part.concurrency() == 0);
  }

  private TreeMap<Long, SortedMap<String, Part>> recent(long second) {
    return new TreeMap<>(seconds.tailMap(second - LENGTH_SECONDS));
  }

  private boolean isFirst(long second, Sample sample) {
    return sample.looksLikeFirstRequest() && !reported(second, sample.reporter())
        && !reported(second - 1, sample.reporter());
  }

  private boolean reported(long second, String reporter) {
    var parts = seconds.get(second);
    return parts != null && parts.containsKey(reporter);
  }

  private double total(long second) {
    var parts = seconds.get(second);
    return parts == null ? 0 : parts.values().stream().mapToDouble(Part::concurrency).sum();
  }
}
