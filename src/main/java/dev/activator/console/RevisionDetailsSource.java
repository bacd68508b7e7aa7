package dev.activator.console;

import dev.activator.revision.RevisionId;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Supplies what the console shows of a revision beyond the request path's own state: settings,
 * Events, URL, routing.
 *
 * <p><b>Threads.</b> Any.
 */
public interface RevisionDetailsSource {
  /** @param origin such as an annotation, a property or a default */
  record Setting(String name, String value, String origin) {}

  record EventLine(Instant when, String type, String reason, String about, String message) {}

  /** @param insteadDo why there is nothing; empty if there is something */
  record Known<T>(List<T> all, String insteadDo) {}

  /**
   * @param kind such as {@code Revision}
   * @param obstacles what keeps it from working, a sentence each; what the stages know is not repeated
   * @param url for people; null if unknown
   * @param maxPods null for any number
   * @param routing null if it belongs to no Service, or if that is unknown
   */
  record CardDetails(String kind, List<String> obstacles, @Nullable String url,
      @Nullable Integer maxPods, @Nullable Routing routing) {}

  /** Whether the requests of its Service go to a revision. */
  enum RoutingState {
    LIVE,
    /** Not yet. */
    NEXT,
    /** No longer: only requests by its own name. */
    SUPERSEDED
  }

  record Routing(String service, RoutingState state) {}

  CardDetails card(RevisionId id);

  /** The autoscaler's view and the settings. Must not fail. */
  CompletableFuture<List<Setting>> settings(RevisionId id);

  /** The newest first. Must not fail. */
  CompletableFuture<Known<EventLine>> events(RevisionId id);

  /** The last lines that its pods printed. */
  Known<String> log(RevisionId id);
}
