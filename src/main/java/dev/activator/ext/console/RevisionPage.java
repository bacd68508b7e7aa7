package dev.activator.ext.console;

import dev.activator.platform.RevisionActions;
import static dev.activator.ext.console.ConsoleHtml.age;
import static dev.activator.ext.console.ConsoleHtml.number;
import static dev.activator.ext.console.Html.count;
import static dev.activator.ext.console.Html.length;
import static dev.activator.ext.console.Html.section;
import static dev.activator.ext.console.Html.table;
import static dev.activator.ext.console.Html.text;
import static dev.activator.ext.console.Html.time;
import static java.util.stream.Collectors.joining;

import dev.activator.platform.RevisionDetailsSource;
import dev.activator.backend.RevisionBackendsView.Address;
import dev.activator.ext.console.RevisionHourHistory.Kind;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.ThrottleView.PodLoad;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Renders the page of one revision as HTML, in parts that are replaced when they change. */
final class RevisionPage {
  private static final Pattern INSTANT = Pattern
      .compile("\\b\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ");

  private RevisionPage() {}

  static SequencedMap<String, String> unknown(RevisionId id) {
    var parts = new LinkedHashMap<String, String>();
    parts.put("head", "<section id=\"head\" class=\"wide\"><h1>" + text(id.toString())
        + "</h1><p>There is no such Revision or ScaledService. <a href=\"/console\">All of them</a></p></section>");
    return parts;
  }

  static SequencedMap<String, String> of(String problem, RevisionCardData card,
      ConsoleLinks links, Instant now, List<RevisionDetailsSource.Setting> settings,
      RevisionDetailsSource.Known<RevisionDetailsSource.EventLine> events,
      RevisionDetailsSource.Known<String> log, List<ColdStart> starts,
      @Nullable RevisionActions actions) {
    var id = card.id();
    var parts = new LinkedHashMap<String, String>();
    parts.put("head", head(problem, card, links));
    if (actions != null) {
      parts.put("actions", actions(card));
    }
    var ofIt = starts.stream().filter(each -> each.revision().equals(id)).toList();
    parts.put("hour", hour(card, ofIt, now));
    parts.put("pods", pods(card));
    parts.put("queue", queue(card));
    parts.put("settings", settings(settings));
    parts.put("events", events(events));
    parts.put("log", log(log));
    parts.put("starts", ConsoleColdStartSection.of(ofIt, false));
    return parts;
  }

  private static String head(String problem, RevisionCardData card, ConsoleLinks links) {
    var since = card.since();
    return "<section id=\"head\" class=\"wide card " + card.badge().kind() + "\">"
        + (problem.isEmpty() ? "" : "<p class=\"banner\">" + text(problem) + "</p>")
        + "<h1>" + text(card.id().name()) + " <small>" + text(card.details().kind()) + " in "
        + text(card.id().namespace()) + "</small></h1>" + ConsoleHtml.state(card)
        + (since == null ? "" : " <small>since " + time(since) + "</small>")
        + links(card, links) + "<p>"
        + text(card.diagnosis().summary()) + "</p>" + ConsoleHtml.obstacles(card)
        + "<p class=\"todo\"><b>What to do:</b> " + text(card.whatToDo()) + "</p>"
        + ConsoleHtml.numbers(card) + Charts.minute(card.minute()) + ConsoleHtml.caption(card)
        + ConsoleHtml.running(card) + ConsoleHtml.failure(card) + ConsoleHtml.restarts(card)
        + "</section>";
  }

  private static String links(RevisionCardData card, ConsoleLinks links) {
    var all = new LinkedHashMap<String, String>();
    var url = card.details().url();
    if (url != null) {
      all.put(url, url);
    }
    links.of(card).forEach((name, address) -> all.put(address, name));
    return all.isEmpty()
        ? ""
        : all.entrySet().stream().map(link -> "<a id=\"u." + text(link.getValue()) + "\" href=\""
            + text(link.getKey()) + "\" rel=\"noreferrer\">" + text(link.getValue()) + "</a>")
            .collect(joining(" · ", "<p class=\"url\">", "</p>"));
  }

  private static String hour(RevisionCardData card, List<ColdStart> starts, Instant now) {
    var marks = card.hour().marks();
    var text = new StringBuilder();
    for (var mark : marks) {
      text.append("<li").append(mark.bad() ? " class=\"failed\"" : "").append('>')
          .append(time(mark.at())).append(' ').append(text(mark.text())).append("</li>");
    }
    return section("hour", "wide", "The last hour", RevisionTimeline.of(card.hour(), starts, now)
        + "<p class=\"caption\">" + count(card.hour().sum(Kind.REQUESTS), "request") + ", "
        + card.hour().sum(Kind.ERRORS) + " failed, " + count(starts.size(), "cold start") + "</p>"
        + (marks.isEmpty() ? "" : "<ol class=\"marks\">" + text + "</ol>"));
  }

  private static String actions(RevisionCardData card) {
    var id = card.id();
    return "<section id=\"actions\" class=\"wide\"><h2 class=\"hidden\">Actions</h2>"
        + (card.details().takesRequests() ? button(id, "request", "Send a request") : "")
        + button(id, "zero", "Scale to zero")
        + button(id, "restart", "Restart") + "</section>";
  }

  private static String button(RevisionId id, String action, String word) {
    return "<form method=\"post\" action=\"" + ConsoleHtml.detailUrl(id) + "/" + action
        + "\"><button id=\"b." + action + "\">" + word + "</button></form>";
  }

  private static String pods(RevisionCardData card) {
    var rows = card.now().pods().stream().map(pod -> pod(card, pod)).collect(joining());
    return section("pods", "half", "Pods", rows.isEmpty()
        ? "<p class=\"soft\">None is listed.</p>"
        : table("pods", "", rows, Stream.of("address", "state", "in flight|right", "limit|right",
            "permits", "last probe")
            .filter(column -> isShared(card) || !column.equals("permits"))
            .toArray(String[]::new)));
  }

  private static String pod(RevisionCardData card, Address pod) {
    int inFlight = card.now().queue().now().pods().stream()
        .filter(load -> load.destination().equals(pod.destination()))
        .mapToInt(PodLoad::inFlight).sum();
    var probe = pod.probe();
    return "<tr><td>" + text(pod.destination().toString()) + "</td><td>"
        + (pod.serves() ? "serves" : pod.ready() ? "ready" : "not ready")
        + (pod.ejected() ? ", ejected" : "") + "</td><td class=\"right\">" + inFlight
        + "</td><td class=\"right\">"
        + (card.now().queue().now().containerConcurrency() == 0
            ? "none"
            : "" + card.now().queue().now().containerConcurrency())
        + "</td>" + (isShared(card)
            ? "<td>" + text(permits(card.now().queue().lending(), pod.destination())) + "</td>"
            : "")
        + "<td>" + text(probe.outcome())
        + (pod.failures() > 1 ? ", " + pod.failures() + " times" : "")
        + (probe.ago() == null ? "" : ", " + age(probe.ago()) + " ago")
        + (probe.took() == null ? "" : ", took " + length(probe.took())) + "</td></tr>";
  }

  private static boolean isShared(RevisionCardData card) {
    return !card.now().queue().lending().pods().isEmpty();
  }

  /** The permits of a pod that this activator has, has lent or borrowed, and the pod's owner. */
  private static String permits(SharedPermitsView lending, Destination pod) {
    return lending.pods().stream().filter(share -> share.pod().equals(pod)).findFirst()
        .map(share -> (share.owned()
            ? share.permits() + " here" + (share.lent() == 0 ? "" : ", " + share.lent() + " lent")
            : share.permits() + " borrowed")
            + (share.owner() == null ? "" : "; owner " + share.owner()))
        .orElse("");
  }

  private static String queue(RevisionCardData card) {
    var queue = card.now().queue().queue();
    var waits = queue.oldest().stream().map(Html::length).collect(joining(", "));
    return section("queue", "half", "Queue", "<dl class=\"numbers\">"
        + number("waiting", card.now().queued() + " / " + queue.capacity())
        + number("held", Html.size(queue.heldBytes()))
        + number("order", card.now().queue().now().newestFirst() ? "newest first" : "by arrival")
        + "</dl>" + (waits.isEmpty()
            ? "<p class=\"soft\">No request waits.</p>"
            : "<p>Oldest waits: " + waits + "</p><p>From " + text(ConsoleHtml.from(card))
                + "</p>"));
  }

  private static String settings(List<RevisionDetailsSource.Setting> all) {
    return section("settings", "half", "Autoscaler and settings", table("settings", "",
        all.stream().map(each -> "<tr><td>" + text(each.name()) + "</td><td>" + text(each.value())
            + "</td><td class=\"soft\">" + withTimes(text(each.origin())) + "</td></tr>")
            .collect(joining()),
        "what", "value", "from, or why"));
  }

  private static String withTimes(String html) {
    return INSTANT.matcher(html).replaceAll(instant -> time(Instant.parse(instant.group())));
  }

  private static String events(
      RevisionDetailsSource.Known<RevisionDetailsSource.EventLine> events) {
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

  private static String log(RevisionDetailsSource.Known<String> log) {
    return section("log", "wide", "What its pods print", log.all().isEmpty()
        ? "<p class=\"soft\">"
            + (log.insteadDo().isEmpty() ? "Nothing yet." : text(log.insteadDo())) + "</p>"
        : "<pre tabindex=\"0\" id=\"log.lines\" aria-label=\"the last lines\">"
            + text(String.join("\n", log.all())) + "</pre>");
  }
}
