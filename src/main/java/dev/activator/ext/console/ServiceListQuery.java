package dev.activator.ext.console;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The filter and sort order of the console's list of Services, as in the query of the page's URL.
 *
 * @param filter words that must all occur in the Service's name, in its revisions' names or in its
 *     state
 */
record ServiceListQuery(String filter, Column column, boolean reversed) {
  static final ServiceListQuery ALL = new ServiceListQuery("", Column.ATTENTION, false);
  private static final int MAX_FILTER = 200;

  /** The columns. Those with numbers are sorted with the largest first. */
  enum Column {
    /**
     * The default order: the Services for which most requests wait, then those in the worst state.
     */
    ATTENTION("", (_, _) -> 0),
    NAME("Service", Comparator.comparing(ServiceRow::service)),
    STATE("State", Comparator.comparing(ServiceRow::rank).thenComparing(row -> row.badge().word())),
    PODS("Pods", most(row -> (double) row.ready())),
    IN_FLIGHT("In flight", most(row -> (double) row.requests().inFlight())),
    QUEUED("Queued", most(row -> (double) row.requests().queued())),
    OLDEST("Oldest", most(row -> (double) row.requests().oldestWait().toNanos())),
    RATE("Req/s", most(row -> row.requests().perSecond())),
    ERRORS("Errors, 1\u00a0h", most(row -> (double) row.errors())),
    P50("p50", most(row -> row.percentile(0.5))),
    P99("p99", most(row -> row.percentile(0.99))),
    CHANGE("Last change", most(row -> row.changedAt().toEpochMilli() / 1e3));

    private final String title;
    private final Comparator<ServiceRow> order;

    Column(String title, Comparator<ServiceRow> order) {
      this.title = title;
      this.order = order;
    }

    private static Comparator<ServiceRow> most(Function<ServiceRow, Double> value) {
      // A percentile without values is NaN, and comes last.
      return Comparator.comparing(row -> Double.isNaN(value.apply(row)) ? 1 : -value.apply(row));
    }

    String title() {
      return title;
    }

    String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Column parse(String word) {
      return Stream.of(values()).filter(each -> each.word().equals(word)).findFirst()
          .orElse(ATTENTION);
    }
  }

  /** Parses a query, and ignores unknown parameters. */
  static ServiceListQuery parse(Map<String, String> query) {
    var filter = query.getOrDefault("q", "");
    return new ServiceListQuery(filter.substring(0, Math.min(MAX_FILTER, filter.length())),
        Column.parse(query.getOrDefault("sort", "")), query.containsKey("reversed"));
  }

  /** The query for a link: empty, or with a question mark. */
  String address() {
    var parts = Stream.of(
        filter.isBlank() ? "" : "q=" + URLEncoder.encode(filter, StandardCharsets.UTF_8),
        column == Column.ATTENTION ? "" : "sort=" + column.word(), reversed ? "reversed=1" : "")
        .filter(part -> !part.isEmpty()).toList();
    return parts.isEmpty() ? "" : "?" + String.join("&", parts);
  }

  /** The query that sorts by this column, or in reverse order if this one already sorts by it. */
  ServiceListQuery by(Column other) {
    return new ServiceListQuery(filter, other, other == column && !reversed);
  }

  /** @param rows in the order of {@link Column#ATTENTION} */
  List<ServiceRow> of(List<ServiceRow> rows) {
    // The searched texts are created only for a filter, because the list is read each second.
    var words = filter.isBlank()
        ? List.<String>of()
        : List.of(filter.strip().toLowerCase(Locale.ROOT).split("\\s+"));
    var order = reversed ? column.order.reversed() : column.order;
    var found = rows.stream()
        .filter(row -> words.isEmpty() || words.stream().allMatch(row.searchable()::contains))
        .sorted(order).toList();
    return reversed && column == Column.ATTENTION ? found.reversed() : found;
  }
}
