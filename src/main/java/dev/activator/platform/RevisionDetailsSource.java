package dev.activator.platform;

import dev.activator.kube.EventFetcher;
import dev.activator.revision.RevisionId;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Supplies details of a revision to the console that the request path does not have: settings,
 * Events, URL, routing.
 *
 * <p><b>Threads.</b> Any.
 */
public interface RevisionDetailsSource {
  /** @param origin such as an annotation, a property or a default */
  record Setting(String name, String value, String origin) {}

  record EventLine(Instant when, String type, String reason, String about, String message) {
    public static EventLine of(EventFetcher.Event event) {
      return new EventLine(event.when(), event.type(), event.reason(),
          event.kind() + " " + event.name(), event.message());
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
   */
  record CardDetails(String kind, List<String> obstacles, @Nullable String url,
      @Nullable Integer maxPods, @Nullable Routing routing) {}

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
