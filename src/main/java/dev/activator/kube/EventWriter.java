package dev.activator.kube;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.loop.LogLimit;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes Events. A repeated Event raises the count of the first one. A text with other numbers is a
 * new Event. Texts that are equal except for numbers are written at most once a minute, because
 * some numbers change every second.
 *
 * <p><b>Threads.</b> Any, and no call waits.
 *
 * <p><b>Errors.</b> An Event that cannot be written is logged, and not retried.
 *
 * <p><b>Source.</b> {@code tools/record} of client-go.
 */
public final class EventWriter {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration PERIOD = Duration.ofMinutes(1);
  /** The limit of the age of a series, since servers keep Events for an hour. */
  private static final Duration MAX_SERIES_AGE = Duration.ofMinutes(50);
  private static final int MAX_SERIES = 1_000;
  private static final JsonMapper JSON = new JsonMapper();
  private static final Logger log = LoggerFactory.getLogger(EventWriter.class);

  private final Supplier<@Nullable KubernetesApiClient> api;
  private final InstantSource clock;
  /**
   * The clock for {@link LogLimit}. If {@code clock} were used and set back, lines would be
   * suppressed for that time.
   */
  private final LongSupplier nanoTime;
  /** The series of Events, in the order of their last use. */
  private final Map<Key, Series> known = new LinkedHashMap<>(16, 0.75f, true);
  private final LogLimit limit = new LogLimit();
  private long lastName;

  /**
   * The object that an Event is about.
   *
   * @param uid empty if it is unknown; kubectl describe then does not show the Event
   */
  public record Regarding(String apiVersion, String kind, String namespace, String name,
      String uid) {
    @Override
    public String toString() {
      return kind + " " + namespace + "/" + name;
    }
  }

  /** @param text the message without its numbers */
  private record Key(Regarding about, boolean warning, String reason, String text) {
    static Key of(Regarding about, boolean warning, String reason, String message) {
      return new Key(about, warning, reason, message.replaceAll("\\d+", "0"));
    }
  }

  private record Series(String name, String message, Instant first, Instant written, int count) {
    /**
     * Whether the series was written less than {@code length} ago, or in the future because the
     * clock was set back.
     */
    boolean isWrittenWithin(Duration length, Instant now) {
      return Duration.between(written, now).abs().compareTo(length) < 0;
    }

    Series again(Instant at) {
      return new Series(name, message, first, at, count + 1);
    }
  }

  /** @param api null while there is no connection */
  public EventWriter(Supplier<@Nullable KubernetesApiClient> api, InstantSource clock) {
    this(api, clock, System::nanoTime);
  }

  public EventWriter(Supplier<@Nullable KubernetesApiClient> api, InstantSource clock,
      LongSupplier nanoTime) {
    this.api = api;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /**
   * Writes an Event, or raises the count of an earlier one.
   *
   * @param reason one word
   * @return a future that completes when the Event is written, or is not going to be
   */
  public CompletableFuture<Void> write(Regarding about, boolean warning, String reason,
      String message) {
    var open = api.get();
    if (open == null) {
      lost(about, message, "no connection");
      return CompletableFuture.completedFuture(null);
    }
    var key = Key.of(about, warning, reason, message);
    var next = next(key, message);
    if (next == null) {
      return CompletableFuture.completedFuture(null);
    }
    var answer = next.count == 1
        ? create(open, key, next)
        : open.send("PATCH", path(about) + "/" + next.name, "application/merge-patch+json",
            JSON.createObjectNode().put("count", next.count)
                .put("lastTimestamp", time(next.written)).toString(),
            TIMEOUT)
            // Either the Event has expired, or this process may only create Events.
            .thenCompose(patched -> patched.status() == 404 || patched.status() == 403
                ? create(open, key, renamed(key, next))
                : CompletableFuture.completedFuture(patched));
    var done = new CompletableFuture<Void>();
    answer.whenComplete((written, failure) -> {
      if (written == null || written.status() >= 300) {
        lost(about, message,
            written == null ? "no answer" : written.status() + " " + written.message());
      }
      done.complete(null);
    });
    return done;
  }

  private void lost(Regarding about, String message, String why) {
    limit.log(nanoTime.getAsLong(), others -> log.warn(
        "An Event about {} was not written: {} ({}). {} others were lost since the last such line",
        about,
        message, why, others));
  }

  /** The series to write now; null if none. */
  private synchronized @Nullable Series next(Key key, String message) {
    var now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    var before = known.get(key);
    boolean same = before != null && before.message.equals(message)
        && now.isBefore(before.first.plus(MAX_SERIES_AGE));
    if (before != null && before.isWrittenWithin(PERIOD, now)) {
      if (same) {
        known.put(key, before.again(before.written));
      }
      return null;
    }
    var next = same && before != null
        ? before.again(now)
        : new Series(name(key.about), message, now, now, 1);
    known.put(key, next);
    if (known.size() > MAX_SERIES) {
      known.remove(known.keySet().iterator().next());
    }
    return next;
  }

  private synchronized Series renamed(Key key, Series before) {
    var next = new Series(name(key.about), before.message, before.first, before.written,
        before.count);
    known.put(key, next);
    return next;
  }

  /** The name of a new Event, as in client-go: the object's name and the time. */
  private String name(Regarding about) {
    var now = clock.instant();
    lastName = Math.max(lastName + 1, now.getEpochSecond() * 1_000_000_000L + now.getNano());
    return about.name + "." + Long.toHexString(lastName);
  }

  private static CompletableFuture<ApiAnswer> create(KubernetesApiClient open, Key key,
      Series series) {
    var about = key.about;
    var event = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Event");
    event.putObject("metadata").put("namespace", about.namespace).put("name", series.name);
    var involved = event.putObject("involvedObject").put("apiVersion", about.apiVersion)
        .put("kind", about.kind).put("namespace", about.namespace).put("name", about.name);
    if (!about.uid.isEmpty()) {
      involved.put("uid", about.uid);
    }
    event.put("type", key.warning ? "Warning" : "Normal").put("reason", key.reason)
        .put("message", series.message).put("count", series.count)
        .put("firstTimestamp", time(series.first)).put("lastTimestamp", time(series.written))
        .put("reportingComponent", "activator").put("reportingInstance", "");
    event.putObject("source").put("component", "activator");
    return open.send("POST", path(about), "application/json", event.toString(), TIMEOUT);
  }

  private static String path(Regarding about) {
    return "api/v1/namespaces/" + about.namespace + "/events";
  }

  private static String time(Instant at) {
    return at.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
