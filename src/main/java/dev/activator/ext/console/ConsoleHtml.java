package dev.activator.ext.console;

import static dev.activator.ext.console.Html.length;
import static dev.activator.ext.console.Html.text;
import static dev.activator.ext.console.Html.time;
import static java.util.stream.Collectors.joining;

import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.util.Map;

/**
 * Renders the frame of the console's pages, and parts that several pages share, as HTML. It escapes
 * all external text.
 */
final class ConsoleHtml {
  private static final int MAX_SOURCES = 3;

  private ConsoleHtml() {}

  /**
   * @param revision empty for the list
   * @param query the query of the list; {@link ServiceListQuery#ALL} on other pages
   */
  static String shell(String title, String revision, ServiceListQuery query,
      Map<String, String> parts) {
    var html = new StringBuilder("""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <title>""").append(text(title)).append("""
        </title>
        <link rel="icon" href="/console/icon.svg"/>
        <link rel="stylesheet" href="/console/console.css"/>
        <script defer="defer" src="/console/console.js"></script>
        </head>
        <body>
        <a class="skip" href="#parts">Skip to the content</a>
        <header class="top">
        <p class="brand"><a href="/console" id="home">Activator</a></p>
        """).append(revision.isEmpty() ? filter(query) : "").append("""
        <p id="stale" class="banner" role="alert" hidden="hidden"></p>
        </header>
        <main id="parts" tabindex="-1" data-revision=\"""").append(text(revision)).append("\">\n");
    var rows = new StringBuilder();
    parts.forEach((id, part) -> {
      if (id.startsWith(ConsoleHomePage.ROW)) {
        rows.append(part).append('\n');
      }
    });
    parts.forEach((id, part) -> {
      if (!id.startsWith(ConsoleHomePage.ROW)) {
        html.append(id.equals(ConsoleHomePage.SERVICES)
            ? part.replace(ConsoleHomePage.NO_ROWS, ConsoleHomePage.ROWS_BEGIN + rows + "</tbody>")
            : part).append('\n');
      }
    });
    return html.append("</main>\n</body>\n</html>\n").toString();
  }

  /** The filter. It is a form, so that Enter filters even without scripts. */
  private static String filter(ServiceListQuery query) {
    return "<form class=\"filter\" role=\"search\" action=\"/console\"><label>Filter"
        + " <input id=\"filter\" name=\"q\" type=\"search\" autocomplete=\"off\" maxlength=\"200\""
        + " placeholder=\"name or state; press /\" value=\"" + text(query.filter()) + "\"/></label>"
        + (query.column() == ServiceListQuery.Column.ATTENTION
            ? ""
            : "<input type=\"hidden\" name=\"sort\" value=\"" + query.column().word() + "\"/>")
        + (query.reversed() ? "<input type=\"hidden\" name=\"reversed\" value=\"1\"/>" : "")
        + "</form>\n";
  }

  static String state(RevisionCardData card) {
    var badge = card.badge();
    return "<span class=\"state " + badge.kind() + "\" role=\"status\">" + badge.word() + "</span>";
  }

  static String detailUrl(RevisionId id) {
    return "/console/" + text(id.namespace()) + "/" + text(id.name());
  }

  static String obstacles(RevisionCardData card) {
    return card.details().obstacles().isEmpty()
        ? ""
        : card.details().obstacles().stream().map(each -> "<li>" + text(each) + "</li>").collect(
            joining("", "<p class=\"why\">What prevents scaling:</p><ul class=\"why\">", "</ul>"));
  }

  static String numbers(RevisionCardData card) {
    return "<dl class=\"numbers\">"
        + number("pods", card.ready() + " / "
            + (card.details().maxPods() == null ? "∞" : card.details().maxPods()))
        + number("in flight", card.now().inFlight()) + number("queued", card.now().queued())
        + number("p50, 1 min", percentile(card, 0.5)) + number("p99", percentile(card, 0.99))
        + "</dl>";
  }

  static String number(String name, Object value) {
    return "<div><dt>" + name + "</dt><dd>" + value + "</dd></div>";
  }

  private static String percentile(RevisionCardData card, double share) {
    double nanos = card.minute().durations().percentile(share);
    return Double.isNaN(nanos) ? "–" : length(Duration.ofNanos(Math.round(nanos)));
  }

  static String caption(RevisionCardData card) {
    var minute = card.minute();
    return "<p class=\"caption\"><span class=\"key pod\">requests a second, at most "
        + minute.peakRequests()
        + "</span><span class=\"key queue\">queued, at most "
        + minute.peakQueued() + "</span></p>";
  }

  static String running(RevisionCardData card) {
    var start = card.now().queue().start();
    var requested = start.requested();
    if (requested == null) {
      return "";
    }
    var view = card.now().start();
    var phases = view == null
        ? Map.of(StartPhase.POD, requested.toNanos())
        : view.phases(requested);
    return "<div class=\"running\">" + Charts.start(requested, phases, start.usual())
        + "<ol class=\"steps\"><li class=\"done\">requested " + length(requested)
        + " ago</li>" + steps(phases, view == null ? StartPhase.POD : view.current())
        + "<li>first byte</li></ol>"
        + (view == null ? "" : "<p>" + text(WaitDiagnosis.waitsFor(view, requested)) + "</p>")
        + (start.usual().isZero()
            ? ""
            : "<p class=\"soft\">▏ usual start: "
                + length(start.usual()) + "</p>")
        + "</div>";
  }

  private static String steps(Map<StartPhase, Long> phases, StartPhase current) {
    var steps = new StringBuilder();
    phases.forEach((phase, nanos) -> {
      var took = Duration.ofNanos(nanos);
      if (phase == current || took.toMillis() > 0) {
        steps.append("<li class=\"").append(phase == current ? "now" : "done").append("\">")
            .append(phase).append(' ').append(length(took)).append("</li>");
      }
    });
    return steps.toString();
  }

  static String failure(RevisionCardData card) {
    var failed = card.failure();
    return failed == null
        ? ""
        : "<p class=\"failed\">Last failure " + age(failed.ago()) + " ago: <b>"
            + text(failed.reason()) + "</b> (" + failed.status() + ")</p>";
  }

  static String restarts(RevisionCardData card) {
    return card.now().processes().pods().stream()
        .map(pod -> "<p class=\"failed\">" + text(pod.pod()) + " was started again "
            + (pod.times() == 1 ? "once" : pod.times() + " times")
            + (pod.nextTry() == null ? "" : ", the next try is at " + time(pod.nextTry())) + "."
            + (card.diagnosis().summary().contains(pod.lastEnd())
                ? ""
                : " Last: " + text(pod.lastEnd()))
            + "</p>")
        .collect(joining());
  }

  /** An age in coarse steps, so that an idle page does not change every second. */
  static String age(Duration ago) {
    long seconds = ago.toSeconds();
    if (seconds < 5) {
      return "a moment";
    }
    return seconds < 60 ? seconds / 5 * 5 + " s" : length(ago);
  }

  /** The most frequent addresses that waiting requests come from. */
  static String from(RevisionCardData card) {
    return card.now().queue().queue().from().entrySet().stream()
        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed()).limit(MAX_SOURCES)
        .map(each -> each.getKey() + (each.getValue() == 1 ? "" : " × " + each.getValue()))
        .collect(joining(", "));
  }
}
