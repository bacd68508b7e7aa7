package dev.activator.ext.console;

import static dev.activator.ext.console.Html.count;
import static dev.activator.ext.console.Html.length;
import static dev.activator.ext.console.Html.text;
import static dev.activator.ext.console.Html.time;
import static java.util.stream.Collectors.joining;
import dev.activator.ext.console.Alerts.Alert;
import dev.activator.ext.console.RevisionHourHistory.Kind;
import dev.activator.ext.console.ServiceListQuery.Column;
import dev.activator.observability.ColdStarts.ColdStart;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.stream.Stream;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.ThrottleView;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;

/**
 * Renders the first page of the console as HTML, in parts that are replaced when they change. The
 * parts are the summary, alerts, Services that need attention, all Services, and
 * cold starts.
 */
final class ConsoleHomePage {
  /** The prefix of the ids of rows. Rows are inside the part {@link #SERVICES}. */
  static final String ROW = "r.";
  static final String SERVICES = "services";
  static final String ROWS_BEGIN = "<tbody id=\"rows\">";
  static final String NO_ROWS = ROWS_BEGIN + "</tbody>";
  private static final int MAX_ROWS = 100;
  private static final int MAX_CARDS = 6;
  private static final int MAX_STARTS = 10;

  private ConsoleHomePage() {}

  /**
   * The data that the page shows.
   *
   * @param problem why the activator is not ready; empty if it is
   * @param summary the state of the systems that requests depend on
   * @param trouble whether one of them is not available
   * @param rows in the default order
   */
  record Content(String problem, String summary, boolean trouble, ActivatorTotals totals,
      List<Alert> alerts, List<ServiceRow> rows, List<ColdStart> starts,
      ConsoleLinks links) {}

  static SequencedMap<String, String> of(Content now, ServiceListQuery query) {
    var parts = new LinkedHashMap<String, String>();
    parts.put("summary", summary(now));
    parts.put("alerts", alerts(now));
    var attention = now.rows.stream().filter(ServiceRow::needsAttention).toList();
    if (!attention.isEmpty()) {
      parts.put("attention", attention(attention));
    }
    var found = query.of(now.rows);
    parts.put(SERVICES, services(now.rows.size(), found.size(), query));
    found.stream().limit(MAX_ROWS).forEach(row -> parts.put(rowId(row), row(row)));
    parts.put("starts", ConsoleColdStartSection
        .of(now.starts.subList(0, Math.min(MAX_STARTS, now.starts.size())), true));
    return parts;
  }

  private static String rowId(ServiceRow row) {
    return ROW + text(row.service().namespace()) + "." + text(row.service().name());
  }

  // The summary.

  private static String summary(Content now) {
    var all = now.totals;
    int failed = all.errors().values().stream().mapToInt(Integer::intValue).sum();
    return "<section id=\"summary\" class=\"wide summary" + (now.trouble ? " trouble" : "")
        + "\">" + (now.problem.isEmpty()
            ? ""
            : "<p class=\"banner\" role=\"alert\">" + text(now.problem) + "</p>")
        + "<h1 class=\"hidden\">The situation</h1><dl class=\"tiles\">"
        + tile("requests a second", rate(all.perSecond()), "")
        + tile("in flight", "" + all.inFlight(), "")
        + tile("queued", "" + all.queued(), all.queued() > 0 ? "warn" : "")
        + tile("oldest wait", all.queued() == 0 ? "–" : length(all.oldestWait()),
            all.oldestWait().toSeconds() >= 60 ? "bad" : "")
        + tile("cold starts now", "" + all.coldStarts(), "")
        + tile("errors, last minute", "" + failed + (failed == 0
            ? ""
            : "<small>" + all.errors().entrySet().stream()
                .map(each -> each.getKey() + " × " + each.getValue()).collect(joining(", "))
                + "</small>"),
            failed == 0 ? "" : "bad")
        + "</dl><p role=\"status\">" + text(now.summary) + "</p>" + (all.peers() == 0
            ? ""
            : "<p class=\"soft\">In flight and queued are sums of all " + (all.peers() + 1)
                + " activators; the other numbers are of this one.</p>")
        + (all.missing().isEmpty()
            ? ""
            : "<p class=\"failed\">Not in these sums: "
                + text(String.join("; ", all.missing())) + ".</p>")
        + "</section>";
  }

  private static String tile(String name, String value, String kind) {
    return "<div" + (kind.isEmpty() ? "" : " class=\"" + kind + "\"") + "><dt>" + name + "</dt><dd>"
        + value + "</dd></div>";
  }

  private static String rate(double perSecond) {
    return perSecond == 0
        ? "0"
        : String.format(Locale.ROOT, perSecond < 10 ? "%.1f" : "%.0f", perSecond);
  }

  private static String alerts(Content now) {
    if (now.alerts.isEmpty()) {
      return "<section id=\"alerts\" class=\"wide quiet\"><p class=\"soft\">No alert would fire."
          + "</p></section>";
    }
    return "<section id=\"alerts\" class=\"wide\"><h2>Alerts</h2><ul>" + now.alerts.stream()
        .map(alert -> alert(alert, now.links)).collect(joining()) + "</ul></section>";
  }

  private static String alert(Alert alert, ConsoleLinks links) {
    boolean fires = alert.firesIn().isZero();
    var runbook = links.runbook(alert.name());
    return "<li><span class=\"state " + (fires ? alert.critical() ? "bad" : "warn" : "idle") + "\">"
        + (fires ? "fires" : "in " + minutes(alert.firesIn())) + "</span> "
        + (runbook.isEmpty()
            ? "<b>" + alert.name() + "</b>"
            : "<a href=\"" + text(runbook) + "\" rel=\"noreferrer\">" + alert.name() + "</a>")
        + " " + text(alert.text()) + "</li>";
  }

  /** A duration in steps of half a minute, so that the page does not change each second. */
  private static String minutes(Duration left) {
    long halves = (left.toSeconds() + 29) / 30;
    return halves % 2 == 0 ? halves / 2 + " min" : halves / 2 + ".5 min";
  }

  private static String right(String content) {
    return "<td class=\"right\">" + content + "</td>";
  }

  // Services that need attention.

  private static String attention(List<ServiceRow> rows) {
    return "<section id=\"attention\" class=\"wide cards\"><h2>Needs attention</h2>"
        + rows.stream().limit(MAX_CARDS).map(ConsoleHomePage::card).collect(joining())
        + (rows.size() > MAX_CARDS
            ? "<p class=\"soft\">… and " + (rows.size() - MAX_CARDS) + " more in the table.</p>"
            : "")
        + "</section>";
  }

  private static String card(ServiceRow row) {
    var card = row.worst();
    var since = card.since();
    return "<article class=\"card " + card.badge().kind() + "\"><h3><a id=\"a." + rowId(row)
        + "\" href=\"" + ConsoleHtml.detailUrl(card.id()) + "\">" + text(card.id().name())
        + "</a> <small>" + text(card.id().namespace()) + "</small></h3>" + ConsoleHtml.state(card)
        + (since == null ? "" : " <small>since " + time(since) + "</small>") + "<p class=\"why\">"
        + text(card.diagnosis().summary()) + "</p>" + ConsoleHtml.obstacles(card)
        + ConsoleHtml.running(card) + ConsoleHtml.failure(card) + ConsoleHtml.restarts(card)
        + "<p class=\"todo\">" + text(card.whatToDo()) + "</p></article>";
  }

  // The table.

  private static String services(int all, int found, ServiceListQuery query) {
    if (all == 0) {
      return Html.section(SERVICES, "wide", "Services",
          "<p class=\"soft\">There is no Revision or ScaledService yet.</p>");
    }
    var head = Stream.of(Column.values()).filter(column -> column != Column.ATTENTION)
        .map(column -> title(column, query)).collect(joining());
    return Html.section(SERVICES, "wide",
        count(all, "Service") + (query.filter().isBlank() ? "" : ", " + found + " found"),
        "<div class=\"scroll\" id=\"services.table\" tabindex=\"0\" role=\"region\""
            + " aria-label=\"Services\"><table class=\"dense\"><thead><tr>" + head
            + "<th scope=\"col\" class=\"hour\"><p class=\"axis\"><span>1 h ago</span> <span>req/min</span>"
            + " <span>now</span></p></th></tr></thead>" + NO_ROWS + "</table></div>"
            + (found > MAX_ROWS
                ? "<p class=\"soft\">" + (found - MAX_ROWS)
                    + " more; the filter shows them.</p>"
                : found == 0 ? "<p class=\"soft\">None has these words.</p>" : ""));
  }

  private static String title(Column column, ServiceListQuery query) {
    boolean sorted = column == query.column();
    boolean number = column != Column.NAME && column != Column.STATE && column != Column.CHANGE;
    // Numbers are sorted with the largest first, words alphabetically.
    var direction = number == query.reversed() ? "ascending" : "descending";
    return "<th scope=\"col\"" + (number ? " class=\"right\"" : "")
        + (sorted ? " aria-sort=\"" + direction + "\"" : "") + "><a id=\"sort." + column.word()
        + "\" href=\"/console" + text(query.by(column).address()) + "\">" + column.title()
        + (sorted ? direction.equals("ascending") ? " ↑" : " ↓" : "") + "</a></th>";
  }

  private static String row(ServiceRow row) {
    var requests = row.requests();
    var since = row.worst().since();
    var change = row.lastChange();
    var from = row.cards().stream().map(ConsoleHtml::from).filter(text -> !text.isEmpty())
        .findFirst().orElse("");
    var max = row.main().details().maxPods();
    return "<tr id=\"" + rowId(row) + "\" class=\"" + row.badge().kind()
        + "\"><th scope=\"row\"><a id=\"l." + rowId(row) + "\" href=\""
        + ConsoleHtml.detailUrl(row.main().id()) + "\">" + text(row.service().name())
        + "</a> <small>" + text(row.service().namespace()) + "</small>" + revisions(row)
        + "</th><td>"
        + "<span class=\"state " + row.badge().kind() + "\">" + text(row.badge().word()) + "</span>"
        + (since == null ? "" : " <small>since " + time(since) + "</small>") + "</td>"
        + right(row.ready() + " / " + (max == null ? "∞" : max)) + right("" + requests.inFlight())
        + right("" + requests.queued()
            + (from.isEmpty() ? "" : "<small>from " + text(from) + "</small>"))
        + right(requests.queued() == 0 ? "–" : length(requests.oldestWait()))
        + right(rate(requests.perSecond()))
        + "<td class=\"right" + (row.errors() > 0 ? " failed" : "") + "\">" + row.errors() + "</td>"
        + right(percentile(row, 0.5)) + right(percentile(row, 0.99)) + "<td>"
        + (change == null
            ? ""
            : "<span" + (change.bad() ? " class=\"failed\"" : "") + ">" + text(change.text())
                + "</span> <small>" + time(change.at()) + "</small>")
        + "</td><td class=\"hour\">"
        + RevisionTimeline.row(row.points(Kind.REQUESTS), row.points(Kind.ERRORS),
            row.points(Kind.QUEUED))
        + "</td></tr>";
  }

  /** The other revisions of a Service, and the live one's share of the requests. */
  private static String revisions(ServiceRow row) {
    if (row.cards().size() < 2) {
      return "";
    }
    var main = row.main();
    var share = row.share();
    return "<br/><small>" + row.cards().stream().map(card -> "<a href=\""
        + ConsoleHtml.detailUrl(card.id()) + "\">" + text(card.id().name()) + "</a>"
        + (card == main && card.isLive()
            ? " <span class=\"live\" title=\"it gets new requests\">live</span>"
                + (share.isEmpty() ? "" : " (" + share + " of the last minute)")
            : ""))
        .limit(3).collect(joining(", ")) + (row.cards().size() > 3 ? ", …" : "") + "</small>";
  }

  private static String percentile(ServiceRow row, double share) {
    double nanos = row.percentile(share);
    return Double.isNaN(nanos) ? "–" : length(Duration.ofNanos(Math.round(nanos)));
  }

  /**
   * The numbers of the console's first row.
   *
   * @param inFlight the requests in flight at all activators
   * @param queued the requests that wait at all activators
   * @param oldestWait at this activator; zero if none waits
   * @param errors the failed requests of the last minute at this activator, by status
   * @param coldStarts the number of revisions for whose first pod requests wait here
   * @param peers the number of other activators
   * @param missing the others whose requests are not in the sums, with the reason
   */
  record ActivatorTotals(double perSecond, int inFlight, int queued, Duration oldestWait,
      Map<Integer, Integer> errors, int coldStarts, int peers, List<String> missing) {

    /** @param here the throttlers of all revisions at this activator */
    static ActivatorTotals of(Collection<ThrottleView> here, Map<RevisionId, Double> rates,
        Map<Integer, Integer> errors, List<PeerSnapshot> peers) {
      var own = PeerSnapshot.Load.of(here);
      var others = peers.stream().map(PeerSnapshot::load).filter(Objects::nonNull).toList();
      return new ActivatorTotals(rates.values().stream().mapToDouble(Double::doubleValue).sum(),
          own.inFlight() + others.stream().mapToInt(PeerSnapshot.Load::inFlight).sum(),
          own.queued() + others.stream().mapToInt(PeerSnapshot.Load::queued).sum(),
          here.stream().map(ThrottleView::oldestWait).max(Comparator.naturalOrder())
              .orElse(Duration.ZERO),
          errors,
          (int) here.stream().filter(view -> view.queued() > 0 && view.capacity() == 0).count(),
          peers.size(),
          peers.stream().filter(peer -> peer.load() == null).map(ActivatorTotals::missing)
              .toList());
    }

    private static String missing(PeerSnapshot peer) {
      return (peer.pod().isEmpty() ? peer.address() : peer.pod())
          + (peer.state() == PeerSnapshot.State.LINKED
              ? " does not answer"
              : " is not linked: " + peer.problem());
    }
  }
}
