package dev.activator.console;

import static dev.activator.console.Html.count;
import static dev.activator.console.Html.length;
import static dev.activator.console.Html.section;
import static dev.activator.console.Html.table;
import static dev.activator.console.Html.text;
import static dev.activator.console.Html.time;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.summingInt;
import static java.util.stream.Collectors.toMap;

import dev.activator.backend.BackendsView.Address;
import dev.activator.console.PlatformFacts.RoutingState;
import dev.activator.lending.LendingView;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.Metric;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.ThrottleView.PodLoad;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The console's pages as HTML, in parts that are replaced when they change. All text from outside is
 * escaped.
 */
final class ConsolePages {
  private static final int MAX_CARDS = 200;
  private static final String REVISION = "Revision";

  private ConsolePages() {}

  /** @param problem why the activator is not ready; empty if it is */
  record Status(String summary, boolean trouble, String problem, int revisions) {}

  static String shell(String title, String revision, Map<String, String> parts) {
    var html = new StringBuilder("""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <title>""").append(text(title)).append("""
        </title>
        <link rel="stylesheet" href="/console/console.css"/>
        <script defer="defer" src="/console/console.js"></script>
        </head>
        <body>
        <a class="skip" href="#parts">Skip to the content</a>
        <header class="top">
        <p class="brand"><a href="/console" id="home">Activator</a></p>
        """).append(revision.isEmpty() ? """
        <label class="filter">Filter <input id="filter" type="search" autocomplete="off"
          placeholder="name, state or outcome"/></label>
        """ : "").append("""
        <p id="stale" class="banner" role="alert" hidden="hidden"></p>
        </header>
        <main id="parts" tabindex="-1" data-revision=\"""").append(text(revision)).append("\">\n");
    parts.forEach((_, part) -> html.append(part).append('\n'));
    return html.append("</main>\n</body>\n</html>\n").toString();
  }

  // The list.

  static SequencedMap<String, String> list(Status status, List<RevisionCard> cards,
      List<ColdStart> starts) {
    var parts = new LinkedHashMap<String, String>();
    parts.put("summary", summary(status, cards));
    var byId = cards.stream().collect(toMap(RevisionCard::id, Function.identity()));
    var requests = cards.stream().filter(card -> card.facts().routing() != null)
        .collect(groupingBy(ConsolePages::service,
            summingInt(card -> card.minute().requestsInAll())));
    CardOrder.of(cards.stream().map(RevisionCard::place).toList()).stream().limit(MAX_CARDS)
        .map(byId::get).filter(Objects::nonNull)
        .forEach(card -> parts.put(partId(card.id()),
            card(card, requests.getOrDefault(service(card), 0))));
    if (cards.isEmpty()) {
      parts.put("none",
          "<p id=\"none\" class=\"wide soft\">There is no Revision or ScaledService yet.</p>");
    } else if (cards.size() > MAX_CARDS) {
      parts.put("more", "<p id=\"more\" class=\"wide soft\">… and "
          + count(cards.size() - MAX_CARDS, "more revision")
          + ". Those that need attention are shown first.</p>");
    }
    parts.put("starts", ColdStartSection.of(starts, true));
    return parts;
  }

  private static String partId(RevisionId id) {
    return "r." + text(id.namespace()) + "." + text(id.name());
  }

  private static String summary(Status status, List<RevisionCard> cards) {
    var kinds = cards.stream().map(card -> card.facts().kind()).distinct().toList();
    var noun = kinds.isEmpty() || kinds.contains(REVISION) ? "revision" : kinds.getFirst();
    return "<section id=\"summary\" class=\"wide summary" + (status.trouble() ? " trouble" : "")
        + "\" role=\"status\">" + (status.problem().isEmpty()
            ? ""
            : "<p class=\"banner\">"
                + text(status.problem()) + "</p>")
        + "<h1>" + count(status.revisions(), noun) + "</h1><p>" + text(status.summary())
        + "</p></section>";
  }

  private static String state(RevisionCard card) {
    var badge = card.badge();
    return "<span class=\"state " + badge.kind() + "\" role=\"status\">" + badge.word() + "</span>";
  }

  static String detailUrl(RevisionId id) {
    return "/console/" + text(id.namespace()) + "/" + text(id.name());
  }

  private static RevisionId service(RevisionCard card) {
    var routing = card.facts().routing();
    return routing == null ? card.id() : new RevisionId(card.id().namespace(), routing.service());
  }

  /** @param ofService requests in the last minute, of all its revisions */
  private static String live(RevisionCard card, int ofService) {
    var routing = card.facts().routing();
    if (routing == null || routing.state() != RoutingState.LIVE) {
      return "";
    }
    var share = CardOrder.share(card.minute().requestsInAll(), ofService);
    return " <span class=\"live\">live" + (share.isEmpty() ? "" : ", " + share + " of the requests")
        + "</span>";
  }

  private static String card(RevisionCard card, int ofService) {
    var id = card.id();
    var html = new StringBuilder("<article id=\"").append(partId(id)).append("\" class=\"card ")
        .append(card.badge().kind()).append("\" data-name=\"").append(text(id.toString()))
        .append(' ').append(card.badge().word()).append("\"><h2><a id=\"a.").append(partId(id))
        .append("\" href=\"").append(detailUrl(id)).append("\">").append(text(id.name()))
        .append("</a> <small>")
        .append(card.facts().kind().equals(REVISION) ? "" : text(card.facts().kind()) + " in ")
        .append(text(id.namespace())).append("</small></h2>")
        .append(state(card)).append(live(card, ofService)).append(url(card)).append(numbers(card))
        .append(Charts.sparkline(card.minute())).append(caption(card)).append(running(card))
        .append(failure(card)).append(restarts(card));
    var kind = card.badge().kind();
    if (kind.equals("bad") || kind.equals("warn") || kind.equals("busy")) {
      html.append("<p class=\"why\">").append(text(card.diagnosis().summary())).append("</p>");
    }
    return html.append(obstacles(card)).append("</article>").toString();
  }

  private static String obstacles(RevisionCard card) {
    return card.facts().obstacles().isEmpty()
        ? ""
        : card.facts().obstacles().stream().map(each -> "<li>" + text(each) + "</li>").collect(
            joining("", "<p class=\"why\">What prevents scaling:</p><ul class=\"why\">", "</ul>"));
  }

  private static String url(RevisionCard card) {
    var url = card.facts().url();
    return url == null
        ? ""
        : "<p class=\"url\"><a id=\"u." + partId(card.id()) + "\" href=\"" + text(url)
            + "\" rel=\"noreferrer\">" + text(url) + "</a></p>";
  }

  private static String numbers(RevisionCard card) {
    return "<dl class=\"numbers\">"
        + number("pods",
            card.ready() + " / " + (card.facts().maxPods() == null ? "∞" : card.facts().maxPods()))
        + number("in flight", card.now().inFlight()) + number("queued", card.now().queued())
        + number("p50, 1 min", percentile(card, 0.5)) + number("p99", percentile(card, 0.99))
        + "</dl>";
  }

  private static String number(String name, Object value) {
    return "<div><dt>" + name + "</dt><dd>" + value + "</dd></div>";
  }

  private static String percentile(RevisionCard card, double share) {
    var counts = card.minute().durations();
    double nanos = counts == null
        ? Double.NaN
        : RequestHistory.percentile(counts, Metric.SERVER_DURATION.bounds(), share);
    return Double.isNaN(nanos) ? "–" : length(Duration.ofNanos(Math.round(nanos)));
  }

  private static String caption(RevisionCard card) {
    var minute = card.minute();
    return "<p class=\"caption\"><span class=\"key pod\">requests a second, at most "
        + minute.peakRequests()
        + "</span><span class=\"key queue\">queued, at most "
        + minute.peakQueued() + "</span></p>";
  }

  private static String running(RevisionCard card) {
    var start = card.now().queue().start();
    var asked = start.asked();
    if (asked == null) {
      return "";
    }
    return "<div class=\"running\">" + Charts.start(asked, card.listed(), start.usual())
        + "<ol class=\"steps\"><li class=\"done\">requested " + length(asked)
        + " ago</li><li class=\""
        + (card.listed() == null ? "now" : "done") + "\">pod</li><li class=\""
        + (card.listed() == null ? "" : "now") + "\">probe</li><li>first byte</li></ol>"
        + (start.usual().isZero()
            ? ""
            : "<p class=\"soft\">▏ usual start: "
                + length(start.usual()) + "</p>")
        + "</div>";
  }

  private static String failure(RevisionCard card) {
    var failed = card.failure();
    return failed == null
        ? ""
        : "<p class=\"failed\">Last failure " + age(failed.ago()) + " ago: <b>"
            + text(failed.reason()) + "</b> (" + failed.status() + ")</p>";
  }

  private static String restarts(RevisionCard card) {
    return card.now().processes().pods().stream()
        .map(pod -> "<p class=\"failed\">" + text(pod.pod()) + " was started again "
            + (pod.times() == 1 ? "once" : pod.times() + " times")
            + (pod.nextTry() == null ? "" : ", the next try is at " + time(pod.nextTry())) + ". "
            + text(pod.lastEnd()) + "</p>")
        .collect(joining());
  }

  /** In steps, so that an idle page does not change every second. */
  private static String age(Duration ago) {
    long seconds = ago.toSeconds();
    if (seconds < 5) {
      return "a moment";
    }
    return seconds < 60 ? seconds / 5 * 5 + " s" : length(ago);
  }

  // One revision.

  static SequencedMap<String, String> unknown(RevisionId id) {
    var parts = new LinkedHashMap<String, String>();
    parts.put("head", "<section id=\"head\" class=\"wide\"><h1>" + text(id.toString())
        + "</h1><p>There is no such Revision or ScaledService. <a href=\"/console\">All of them</a></p></section>");
    return parts;
  }

  static SequencedMap<String, String> detail(String problem, RevisionCard card,
      List<PlatformFacts.Setting> settings, PlatformFacts.Known<PlatformFacts.EventLine> events,
      PlatformFacts.Known<String> log, List<ColdStart> starts,
      LivePage.@Nullable Actions actions) {
    var id = card.id();
    var parts = new LinkedHashMap<String, String>();
    parts.put("head", head(problem, card));
    if (actions != null) {
      parts.put("actions", actions(id));
    }
    parts.put("pods", pods(card));
    parts.put("queue", queue(card));
    parts.put("settings", settings(settings));
    parts.put("events", events(events));
    parts.put("log", log(log));
    parts.put("starts",
        ColdStartSection.of(starts.stream().filter(each -> each.revision().equals(id)).toList(),
            false));
    return parts;
  }

  private static String head(String problem, RevisionCard card) {
    return "<section id=\"head\" class=\"wide card " + card.badge().kind() + "\">"
        + (problem.isEmpty() ? "" : "<p class=\"banner\">" + text(problem) + "</p>")
        + "<h1>" + text(card.id().name()) + " <small>" + text(card.facts().kind()) + " in "
        + text(card.id().namespace()) + "</small></h1>" + state(card) + url(card) + "<p>"
        + text(card.diagnosis().summary()) + "</p>" + obstacles(card)
        + "<p class=\"todo\"><b>What to do:</b> " + text(card.whatToDo()) + "</p>" + numbers(card)
        + Charts.sparkline(card.minute()) + caption(card) + running(card) + failure(card)
        + restarts(card) + "</section>";
  }

  private static String actions(RevisionId id) {
    return "<section id=\"actions\" class=\"wide\"><h2 class=\"hidden\">Actions</h2>"
        + button(id, "request", "Send a request") + button(id, "zero", "Scale to zero")
        + button(id, "restart", "Restart") + "</section>";
  }

  private static String button(RevisionId id, String action, String word) {
    return "<form method=\"post\" action=\"" + detailUrl(id) + "/" + action
        + "\"><button id=\"b." + action + "\">" + word + "</button></form>";
  }

  private static String pods(RevisionCard card) {
    var rows = card.now().pods().stream().map(pod -> pod(card, pod)).collect(joining());
    return section("pods", "half", "Pods", rows.isEmpty()
        ? "<p class=\"soft\">None is listed.</p>"
        : table("pods", "", rows, "address", "state", "in flight|right", "permits", "last probe"));
  }

  private static String pod(RevisionCard card, Address pod) {
    int inFlight = card.now().queue().now().pods().stream()
        .filter(load -> load.destination().equals(pod.destination()))
        .mapToInt(PodLoad::inFlight).sum();
    var probe = pod.probe();
    return "<tr><td>" + text(pod.destination().toString()) + "</td><td>"
        + (pod.serves() ? "serves" : pod.ready() ? "ready" : "not ready")
        + (pod.suspected() ? ", set aside" : "") + "</td><td class=\"right\">" + inFlight
        + "</td><td>" + text(permits(card.now().queue().lending(), pod.destination()))
        + "</td><td>" + text(probe.outcome())
        + (pod.failures() > 1 ? ", " + pod.failures() + " times" : "")
        + (probe.ago() == null ? "" : ", " + age(probe.ago()) + " ago")
        + (probe.took() == null ? "" : ", took " + length(probe.took())) + "</td></tr>";
  }

  /** Who lends them, and who has them. */
  private static String permits(LendingView lending, Destination pod) {
    return lending.pods().stream().filter(share -> share.pod().equals(pod)).findFirst()
        .map(share -> (share.owned()
            ? share.held() + " here" + (share.lent() == 0 ? "" : ", " + share.lent() + " lent")
            : share.held() + " borrowed")
            + (share.owner() == null ? "" : "; owner " + share.owner()))
        .orElse("");
  }

  private static String queue(RevisionCard card) {
    var queue = card.now().queue().queue();
    var waits = queue.oldest().stream().map(Html::length).collect(joining(", "));
    return section("queue", "half", "Queue", "<dl class=\"numbers\">"
        + number("waiting", card.now().queued() + " / " + queue.capacity())
        + number("held", queue.heldBytes() + " bytes")
        + number("order", card.now().queue().now().newestFirst() ? "newest first" : "by arrival")
        + "</dl>" + (waits.isEmpty()
            ? "<p class=\"soft\">No request waits.</p>"
            : "<p>Oldest waits: " + waits + "</p>"));
  }

  private static String settings(List<PlatformFacts.Setting> all) {
    return section("settings", "half", "Autoscaler and settings", table("settings", "",
        all.stream().map(each -> "<tr><td>" + text(each.name()) + "</td><td>" + text(each.value())
            + "</td><td class=\"soft\">" + text(each.origin()) + "</td></tr>").collect(joining()),
        "what", "value", "from, or why"));
  }

  private static String events(PlatformFacts.Known<PlatformFacts.EventLine> events) {
    var rows = events.all().stream().map(each -> "<tr><td>"
        + time(each.when()) + "</td><td class=\""
        + (each.type().equals("Warning") ? "failed" : "") + "\">" + text(each.reason())
        + "</td><td>" + text(each.about()) + ": " + text(each.message()) + "</td></tr>")
        .collect(joining());
    return section("events", "half", "Recent Events", rows.isEmpty()
        ? "<p class=\"soft\">"
            + (events.insteadDo().isEmpty() ? "None." : text(events.insteadDo())) + "</p>"
        : table("events", "", rows));
  }

  private static String log(PlatformFacts.Known<String> log) {
    return section("log", "wide", "What its pods print", log.all().isEmpty()
        ? "<p class=\"soft\">"
            + (log.insteadDo().isEmpty() ? "Nothing yet." : text(log.insteadDo())) + "</p>"
        : "<pre tabindex=\"0\" id=\"log.lines\" aria-label=\"the last lines\">"
            + text(String.join("\n", log.all())) + "</pre>");
  }
}
