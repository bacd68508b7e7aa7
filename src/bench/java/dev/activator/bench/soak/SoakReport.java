package dev.activator.bench.soak;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * What grew, and whether that is a leak: the trend of samples under load, and what is left at rest in comparison to
 * the rest before.
 */
final class SoakReport {
  /** With fewer samples in the second half, caches and pools that still fill look like a trend. */
  private static final int MIN_SAMPLES = 20;
  /**
   * Objects of a class at rest, more than before the load: series of statuses that a pod had not given before. A leak of
   * one for each deleted revision is more within a minute.
   */
  private static final int MAX_MORE_OBJECTS = 30;
  /** The same for classes of libraries: the cache of Netty's pool for one more thread has 240 of some. */
  private static final int MAX_MORE_LIBRARY_OBJECTS = 300;
  /** In a longer run pools and series are filled by rarer peaks: so many deleted revisions allow one object more. */
  private static final int REVISIONS_AN_OBJECT = 10;
  private static final int REVISIONS_A_LIBRARY_OBJECT = 4;
  /**
   * Series of pods at addresses of lasting revisions that the warm-up did not reach: of seven revisions with eight addresses
   * each it uses about half, and each pod has one for each version of HTTP. Beyond that it is a leak: their number is limited
   * by revision and pod, and those of deleted revisions are judged by their names.
   */
  private static final int MAX_MORE_SERIES = 60;
  /** Decoders keep as many ids, so that equal ones are one object. A series has one set of counts and up to three histograms. */
  private static final Map<String, Integer> BOUNDED = Map.of("dev.activator.revision.RevisionId",
      1 << 14, "dev.activator.observability.RevisionMeters$Series", MAX_MORE_SERIES,
      "dev.activator.observability.PerThreadHistogram.PerThreadCounts", MAX_MORE_SERIES,
      "dev.activator.observability.PerThreadHistogram", 3 * MAX_MORE_SERIES,
      // Netty keeps so many of a thread and a class.
      "io.netty.util.Recycler$DefaultHandle", 1 << 12);
  private static final int MAX_ROWS = 12;

  /**
   * What is measured, and how much it may grow.
   *
   * @param tolerance from the beginning of the second half to its end. Of heap, 1 MiB is 600 bytes for each revision
   *     that half an hour deletes, and four standard errors: samples that scatter by 0.5 MiB move the growth of 60
   *     of them by 0.22. Resident memory scatters by 6 MiB, which moves it by 2.7, and code is still compiled. Direct
   *     memory is two chunks of Netty's pool, which takes one when more callers than before read slowly at once.
   *     Descriptors and threads scatter with the number of callers, so a leak of them is found at rest
   * @param atRest how much more may be there when the callers are gone than before they came
   */
  private record Quantity(String name, ToDoubleFunction<SoakSample> value, double tolerance,
      double atRest) {
    double growth(List<SoakSample> samples) {
      return Trend.growth(values(samples));
    }

    double[] values(List<SoakSample> samples) {
      return samples.stream().mapToDouble(value).toArray();
    }
  }

  private static final List<Quantity> QUANTITIES = List.of(
      new Quantity("heap after a collection, MiB", SoakSample::heapMebibytes, 1, 2),
      new Quantity("resident, MiB", SoakSample::resident, 16, Double.POSITIVE_INFINITY),
      new Quantity("direct memory, MiB", SoakSample::directMebibytes, 8,
          Double.POSITIVE_INFINITY),
      new Quantity("descriptors", SoakSample::descriptors, 100, 5),
      new Quantity("threads", SoakSample::threads, 20, 6));

  private final SoakSample before;
  private final List<SoakSample> all;
  private final List<SoakSample> second;
  private final SoakSample after;
  private final int deleted;
  private final Set<String> revisions;

  SoakReport(SoakSample before, List<SoakSample> samples, SoakSample after, int deleted,
      Set<String> revisions) {
    this.before = before;
    this.all = samples;
    this.second = samples.subList(samples.size() / 2, samples.size());
    this.after = after;
    this.deleted = deleted;
    this.revisions = revisions;
  }

  private boolean judgesTrends() {
    return second.size() >= MIN_SAMPLES;
  }

  List<String> failures() {
    var failures = new ArrayList<String>();
    for (var each : QUANTITIES) {
      double growth = each.growth(second);
      if (judgesTrends() && growth > each.tolerance) {
        failures.add(format("%s grew by %.1f in the second half, more than %.0f", each.name,
            growth, each.tolerance));
      }
      double more = each.value.applyAsDouble(after) - each.value.applyAsDouble(before);
      if (more > each.atRest) {
        failures.add(format("%s at rest: %.1f more than before, allowed are %.0f", each.name,
            more, each.atRest));
      }
    }
    after.remains(revisions).forEach(what -> failures.add("at rest " + what));
    moreObjects().forEach(type -> failures.add(format("%,d objects of %s at rest, %,d before (%,d"
        + " revisions were deleted)", after.count(type), type, before.count(type), deleted)));
    return failures;
  }

  /** Classes with more objects at rest than there were before. */
  private List<String> moreObjects() {
    return after.objects().keySet().stream().filter(type -> more(type) > allowed(type))
        .sorted(Comparator.comparingLong(this::more).reversed()).limit(MAX_ROWS).toList();
  }

  private long more(String type) {
    return after.count(type) - before.count(type);
  }

  private double allowed(String type) {
    if (type.startsWith("dev.activator.")) {
      int usual = Math.max(MAX_MORE_OBJECTS, deleted / REVISIONS_AN_OBJECT);
      return Math.max(BOUNDED.getOrDefault(type, 0), usual);
    }
    return type.startsWith("io.netty.") || type.startsWith("reactor.") || type.startsWith("sun.nio")
        ? Math.max(BOUNDED.getOrDefault(type, MAX_MORE_LIBRARY_OBJECTS),
            deleted / REVISIONS_A_LIBRARY_OBJECT)
        : Double.POSITIVE_INFINITY;
  }

  void print() {
    System.out.printf("%n| | at rest before | median under load | growth, first half | second half"
        + " | allowed | at rest after |%n%s%n", "|---".repeat(7) + "|");
    var first = all.subList(0, all.size() / 2);
    for (var each : QUANTITIES) {
      System.out.println(format("| %s | %.1f | %.1f | %+.1f | %+.1f | %.0f | %.1f |", each.name,
          each.value.applyAsDouble(before), Trend.median(each.values(all)), each.growth(first),
          each.growth(second), each.tolerance, each.value.applyAsDouble(after)));
    }
    if (!judgesTrends()) {
      System.out.println(second.size() + " samples in the second half are too few to judge trends");
    }
    System.out.println(after.gauges().entrySet().stream()
        .map(gauge -> format("%s %.0f (at most %.0f under load)", gauge.getKey(),
            gauge.getValue(), all.stream()
                .mapToDouble(each -> each.gauges().getOrDefault(gauge.getKey(), 0.0)).max()
                .orElse(0)))
        .collect(Collectors.joining("; ", "\nat rest: ", "")));
    printClasses();
  }

  /** The classes whose objects took the most more, under load and at rest. */
  private void printClasses() {
    var types = new TreeSet<String>();
    second.forEach(each -> types.addAll(each.objects().keySet()));
    System.out.println("\n| class | bytes in the second half | bytes at rest | objects at rest |\n"
        + "|---|---|---|---|");
    record Grown(String type, double growth, long rest) {}
    types.stream().map(type -> new Grown(type,
        Trend.growth(second.stream().mapToDouble(each -> each.bytes(type)).toArray()),
        after.bytes(type) - before.bytes(type)))
        .sorted(Comparator.comparingDouble((Grown one) -> -Math.max(one.growth, one.rest)))
        .limit(MAX_ROWS).forEach(one -> System.out.println(format(
            "| `%s` | %+,.0f | %+,d | %+,d |", one.type, one.growth, one.rest, more(one.type))));
  }

  private static String format(String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }
}
