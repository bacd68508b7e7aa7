package dev.activator.ext.console;

import dev.activator.ext.console.RevisionHourHistory.Kind;
import dev.activator.ext.console.RevisionHourHistory.Mark;
import dev.activator.ext.console.RevisionCardData.Badge;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Service with the requests of all its revisions at this activator, or a revision without a
 * Service.
 *
 * @param cards the cards of its revisions: the live one first, then the newest
 */
record ServiceRow(RevisionId service, List<RevisionCardData> cards, Requests requests) {
  private static final Comparator<RevisionCardData> IN_SERVICE = Comparator
      .comparing((RevisionCardData card) -> !card.isLive())
      .thenComparing(RevisionCardData::isSuperseded)
      .thenComparing(RevisionCardData::id, Comparator.reverseOrder());

  /** @param oldestWait zero if none is queued */
  record Requests(double perSecond, int inFlight, int queued, Duration oldestWait) {
    static final Requests NONE = new Requests(0, 0, 0, Duration.ZERO);

    Requests plus(Requests other) {
      return new Requests(perSecond + other.perSecond, inFlight + other.inFlight,
          queued + other.queued,
          oldestWait.compareTo(other.oldestWait) < 0 ? other.oldestWait : oldestWait);
    }
  }

  /**
   * The rows of all Services: first those for which most requests wait, then those that need
   * attention.
   *
   * @param rates the requests a second, by revision
   */
  static List<ServiceRow> of(Collection<RevisionCardData> cards, Map<RevisionId, Double> rates) {
    return cards.stream().collect(Collectors.groupingBy(RevisionCardData::service)).entrySet()
        .stream().map(group -> new ServiceRow(group.getKey(),
            group.getValue().stream().sorted(IN_SERVICE).toList(), group.getValue().stream()
                .map(card -> requests(card, rates.getOrDefault(card.id(), 0.0)))
                .reduce(Requests.NONE, Requests::plus)))
        .sorted(Comparator.comparing((ServiceRow row) -> -row.requests.queued)
            .thenComparing(
                row -> row.cards.stream().mapToInt(RevisionCardData::rank).min().orElse(0))
            .thenComparing(ServiceRow::service))
        .toList();
  }

  private static Requests requests(RevisionCardData card, double perSecond) {
    var now = card.now();
    return new Requests(perSecond, now.inFlight(), now.queued(), now.queue().now().oldestWait());
  }

  /** The main revision's share of the last minute's requests, in percent; empty if there were none. */
  String share() {
    return share(main().minute().requestsInAll(),
        cards.stream().mapToInt(card -> card.minute().requestsInAll()).sum());
  }

  static String share(int requests, int ofService) {
    return ofService == 0 ? "" : Math.round(100.0 * requests / ofService) + " %";
  }

  /** The card of the revision that gets the requests. */
  RevisionCardData main() {
    return cards.getFirst();
  }

  /**
   * The cards without superseded revisions for which no request waits, because their state affects
   * no request.
   */
  private Stream<RevisionCardData> current() {
    return cards.stream()
        .filter(card -> card == main() || !card.isSuperseded() || card.now().queued() > 0);
  }

  /**
   * The card to show first: that of the revision for which requests wait, or which is in the worst
   * state.
   */
  RevisionCardData worst() {
    return current().min(Comparator.comparing((RevisionCardData card) -> card.now().queued() == 0)
        .thenComparing(RevisionCardData::rank)).orElseThrow();
  }

  Badge badge() {
    return worst().badge();
  }

  int rank() {
    return worst().rank();
  }

  int ready() {
    return cards.stream().mapToInt(RevisionCardData::ready).sum();
  }

  int errors() {
    return cards.stream().mapToInt(card -> card.hour().sum(Kind.ERRORS)).sum();
  }

  /** The points of all its revisions, the oldest first. */
  int[] points(Kind kind) {
    var sums = new int[RevisionHourHistory.MINUTES];
    cards.forEach(card -> {
      var points = card.hour().of(kind);
      for (int i = 0; i < sums.length; i++) {
        sums[i] += points[i];
      }
    });
    return sums;
  }

  /** A percentile of the last minute at this activator, in nanoseconds; NaN without a request. */
  double percentile(double share) {
    var sums = new MinuteHistory.Durations();
    cards.forEach(card -> sums.add(card.minute().durations()));
    return sums.percentile(share);
  }

  /** The last event; null if there was none. */
  @Nullable Mark lastChange() {
    return current().map(card -> card.hour().lastChange()).filter(Objects::nonNull)
        .max(Comparator.comparing(Mark::at)).orElse(null);
  }

  Instant changedAt() {
    var change = lastChange();
    return change == null ? Instant.EPOCH : change.at();
  }

  String searchable() {
    return (service + " " + cards.stream().map(card -> card.id().name() + " " + card.badge().word())
        .collect(Collectors.joining(" "))).toLowerCase(Locale.ROOT);
  }

  /** Whether an operator should check the Service now. */
  boolean needsAttention() {
    return switch (badge().kind()) {
      case "bad", "warn" -> true;
      case "busy" -> requests.queued() > 0;
      default -> false;
    };
  }
}
