package dev.activator.platform;

import dev.activator.revision.RevisionId;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Supplies details of a revision to the console that the request path does not have: settings,
 * Events, URL, routing.
 *
 * <p><b>Threads.</b> Any.
 */
public interface RevisionDetailsSource {
  /** @param origin such as an annotation, a property or a default */
  record Setting(String name, String value, String origin) {}

  /**
   * An Event.
   *
   * @param when the time of the last occurrence
   * @param about the kind and the name of the object
   */
  record EventLine(Instant when, String type, String reason, String about, String message) {
    public static EventLine of(JsonNode event) {
      return new EventLine(lastTime(event), event.path("type").asString(""),
          event.path("reason").asString(""), event.at("/involvedObject/kind").asString("") + " "
              + event.at("/involvedObject/name").asString(""),
          event.path("message").asString(""));
    }

    /** Older and newer writers of Events use different fields for it. */
    private static Instant lastTime(JsonNode event) {
      return Stream.of("/series/lastObservedTime", "/lastTimestamp", "/eventTime",
          "/firstTimestamp", "/metadata/creationTimestamp").map(path -> event.at(path).asString(""))
          .filter(text -> !text.isEmpty()).findFirst().map(EventLine::parse).orElse(Instant.EPOCH);
    }

    private static Instant parse(String text) {
      try {
        return Instant.parse(text);
      } catch (DateTimeParseException e) {
        return Instant.EPOCH;
      }
    }
  }

  /** @param insteadDo what to do instead if there is nothing; otherwise empty */
  record Known<T>(List<T> all, String insteadDo) {}

  /**
   * @param kind such as {@code Revision}
   * @param obstacles a sentence for each problem that keeps the revision from working; those that the
   *     explanation of a wait reports are left out
   * @param url for browsers; null if unknown
   * @param maxPods null if unlimited
   * @param routing null if it belongs to no Service, or if that is unknown
   * @param takesRequests false if it takes connections over TCP only
   */
  record CardDetails(String kind, List<String> obstacles, @Nullable String url,
      @Nullable Integer maxPods, @Nullable Routing routing, boolean takesRequests) {}

  /** Whether a revision gets the requests of its Service. */
  enum RoutingState {
    LIVE,
    /** It does not get them yet. */
    NEXT,
    /** It no longer gets them, only requests by its own name. */
    SUPERSEDED
  }

  record Routing(String service, RoutingState state) {}

  CardDetails card(RevisionId id);

  /** The autoscaler's view, and the settings. Must not fail. */
  CompletableFuture<List<Setting>> settings(RevisionId id);

  /** The Events of the revision, the newest first. Must not fail. */
  CompletableFuture<Known<EventLine>> events(RevisionId id);

  /** The last lines that the revision's pods printed. */
  Known<String> log(RevisionId id);
}
