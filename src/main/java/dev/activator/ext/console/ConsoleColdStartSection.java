package dev.activator.ext.console;

import static dev.activator.ext.console.Html.length;
import static dev.activator.ext.console.Html.section;
import static dev.activator.ext.console.Html.table;
import static dev.activator.ext.console.Html.text;
import static dev.activator.ext.console.Html.time;
import static java.util.stream.Collectors.joining;

import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases.Phase;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/** Renders the latest cold starts as HTML: how each spent its time, and percentiles by revision. */
final class ConsoleColdStartSection {
  private static final int MAX_STARTS = 40;

  private ConsoleColdStartSection() {}

  /** @param named whether each one shows its revision */
  static String of(List<ColdStart> all, boolean named) {
    if (all.isEmpty()) {
      return section("starts", "wide", "Cold starts", "<p class=\"soft\">None yet.</p>");
    }
    var shown = all.subList(0, Math.min(MAX_STARTS, all.size()));
    long longest = shown.stream().mapToLong(each -> each.phases().totalNanos()).max().orElse(1);
    var legend = Stream.concat(
        Arrays.stream(StartPhase.values()).filter(phase -> isSplit(shown, phase))
            .map(StartPhase::toString),
        Arrays.stream(Phase.values()).filter(phase -> isShown(shown, phase)).map(Phase::toString))
        .distinct().map(phase -> "<span class=\"key " + phase + "\">" + phase + "</span> ")
        .collect(joining());
    var medians = new HashMap<RevisionId, Long>();
    answered(all).forEach((id, times) -> medians.put(id, percentile(times, 0.5)));
    var rows = shown.stream()
        .map(start -> row(start, longest, medians.getOrDefault(start.revision(), 0L), named))
        .collect(joining());
    return section("starts", "wide", "Cold starts", "<p class=\"legend\">" + legend
        + "<span class=\"soft\">on a common scale, 0 to " + length(Duration.ofNanos(longest))
        + "; ▏ is the median of the revision</span></p>" + percentiles(all)
        + table("starts", "", rows, Stream.of("when", "revision", "spent on|bar",
            "total|right", "outcome", "status|right")
            .filter(column -> named || !column.equals("revision")).toArray(String[]::new)));
  }

  private static boolean isSplit(List<ColdStart> shown, StartPhase phase) {
    return shown.stream().anyMatch(start -> start.start().getOrDefault(phase, 0L) > 0);
  }

  private static boolean isShown(List<ColdStart> shown, Phase phase) {
    return !phase.isSplit() || shown.stream().anyMatch(start -> start.start().isEmpty());
  }

  private static String row(ColdStart start, long longest, long median, boolean named) {
    var id = start.revision();
    return "<tr data-name=\"" + text(id + " " + start.outcome()) + "\"><td>"
        + time(start.when()) + "</td>"
        + (named
            ? "<td><a href=\"" + ConsoleHtml.detailUrl(id) + "\">" + text(id.name())
                + "</a></td>"
            : "")
        + "<td class=\"bar\">" + Charts.finished(start, longest, median)
        + "</td><td class=\"right\">"
        + length(Duration.ofNanos(start.phases().totalNanos())) + "</td><td"
        + (isAnswered(start) ? "" : " class=\"failed\"") + ">" + start.outcome()
        + "</td><td class=\"right\">" + start.status() + "</td></tr>";
  }

  private static boolean isAnswered(ColdStart start) {
    return start.outcome() == RequestOutcome.ANSWERED
        || start.outcome() == RequestOutcome.WAITING_PAGE
        || start.outcome() == RequestOutcome.FALLBACK
        || start.outcome() == RequestOutcome.HANDED_OVER;
  }

  /**
   * The sorted durations of answered starts. Failed ones are left out, because their duration is
   * mostly a timeout.
   */
  private static SortedMap<RevisionId, List<Long>> answered(List<ColdStart> all) {
    var byRevision = all.stream().filter(ConsoleColdStartSection::isAnswered).collect(
        Collectors.groupingBy(ColdStart::revision, TreeMap::new,
            Collectors.mapping(start -> start.phases().totalNanos(), Collectors.toList())));
    byRevision.replaceAll((_, times) -> times.stream().sorted().toList());
    return byRevision;
  }

  private static long percentile(List<Long> sorted, double share) {
    return sorted.get(Math.clamp((int) Math.ceil(share * sorted.size()) - 1, 0, sorted.size() - 1));
  }

  private static String percentiles(List<ColdStart> all) {
    var byRevision = answered(all);
    return byRevision.isEmpty()
        ? ""
        : table("percentiles", "small",
            byRevision.entrySet().stream().map(one -> row(one.getKey(), one.getValue()))
                .collect(joining()),
            "revision", "starts|right", "p50|right", "p90|right", "max|right");
  }

  private static String row(RevisionId id, List<Long> sorted) {
    return "<tr data-name=\"" + text(id.toString()) + "\"><td>" + text(id.toString())
        + "</td><td class=\"right\">" + sorted.size() + "</td>"
        + DoubleStream.of(0.5, 0.9, 1)
            .mapToObj(share -> percentile(sorted, share))
            .map(nanos -> "<td class=\"right\">" + length(Duration.ofNanos(nanos)) + "</td>")
            .collect(joining())
        + "</tr>";
  }
}
