package dev.activator.embedded.runtime.policy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Counts repeated Events. It decides which Event is new, which raises a count, and which has
 * expired. After ten different messages with one reason about one object, further messages are
 * combined to one Event.
 *
 * <p><b>Source.</b> {@code tools/record/events_cache.go} in client-go. As in Kubernetes, Events
 * expire after an hour.
 */
public final class EventCorrelator {
  static final int MAX_SERIES = 1_000;
  static final Duration MAX_AGE = Duration.ofHours(1);
  static final int SIMILAR = 10;
  static final Duration SIMILAR_WITHIN = Duration.ofMinutes(10);
  private static final String COMBINED = "(combined from similar events): ";

  /** The series in the order of their last events. */
  private final LinkedHashMap<Happening, Series> series = new LinkedHashMap<>();
  private long made;

  /** @param about the uid of the object */
  public record Happening(String about, String type, String reason, String message) {}

  /** @param number the number of the series; if {@code count} is 1, the series is new */
  public record Series(long number, Happening last, int count, Instant firstTime,
      Instant lastTime) {}

  public record Step(Series series, List<Series> expired) {}

  public Step on(Happening happening, Instant now) {
    var expired = expired(now);
    var key = series.containsKey(happening) || similar(happening, now) < SIMILAR
        ? happening
        : new Happening(happening.about(), happening.type(), happening.reason(), COMBINED);
    var shown = key == happening
        ? happening
        : new Happening(key.about(), key.type(), key.reason(), COMBINED + happening.message());
    var known = series.remove(key);
    var next = known == null
        ? new Series(made++, shown, 1, now, now)
        : new Series(known.number(), shown, known.count() + 1, known.firstTime(), now);
    series.put(key, next);
    return new Step(next, expired);
  }

  private long similar(Happening happening, Instant now) {
    return series.values().stream()
        .filter(one -> one.last().about().equals(happening.about())
            && one.last().type().equals(happening.type())
            && one.last().reason().equals(happening.reason())
            && one.lastTime().isAfter(now.minus(SIMILAR_WITHIN)))
        .count();
  }

  /** Removes expired series, and the oldest ones until there is room for one more. */
  private List<Series> expired(Instant now) {
    var expired = new ArrayList<Series>();
    var oldest = series.values().iterator();
    while (oldest.hasNext()) {
      var one = oldest.next();
      if (series.size() < MAX_SERIES && one.lastTime().isAfter(now.minus(MAX_AGE))) {
        break;
      }
      expired.add(one);
      oldest.remove();
    }
    return expired;
  }
}
