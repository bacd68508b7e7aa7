package dev.activator.ext.console;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the last request that each revision failed to serve, until it serves a later one. A request that fell back
 * counts for the revision that it fell back to.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class LastFailedRequests implements RequestObserver {
  private static final int SERVER_ERROR = 500;

  /** @param atNanos on the loops' clock */
  public record FailedRequest(RequestOutcome outcome, int status, long atNanos) {}

  private final LongSupplier nanoTime;
  private final LiveRevisions revisions;
  private final Slot<AtomicReference<@Nullable FailedRequest>> slot;
  private volatile Listener listener = (_, _, _) -> {
  };

  /** A listener that is called on the request's loop. */
  public interface Listener {
    void failed(RevisionId id, RequestOutcome outcome, int status);
  }

  public LastFailedRequests(LongSupplier nanoTime, LiveRevisions revisions) {
    this.nanoTime = nanoTime;
    this.revisions = revisions;
    this.slot = revisions.slot("last failed request", _ -> new AtomicReference<>());
  }

  public void onFailure(Listener to) {
    listener = to;
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    var revision = request.serving();
    var outcome = request.outcome();
    if (step != Step.ENDED || revision == null || outcome == null
        || outcome == RequestOutcome.CALLER_GONE || outcome == RequestOutcome.WAITING_PAGE
        || outcome == RequestOutcome.NOT_WOKEN || outcome == RequestOutcome.FALLBACK) {
      return;
    }
    if (!outcome.served() || request.status() >= SERVER_ERROR) {
      listener.failed(revision.id(), outcome, request.status());
      var last = revision.slot(slot);
      if (last != null) {
        last.set(new FailedRequest(outcome, request.status(), nanoTime.getAsLong()));
      }
    } else {
      var last = revision.peek(slot);
      if (last != null) {
        last.set(null);
      }
    }
  }

  public @Nullable FailedRequest of(RevisionId id) {
    var last = revisions.peek(id, slot);
    return last == null ? null : last.get();
  }
}
