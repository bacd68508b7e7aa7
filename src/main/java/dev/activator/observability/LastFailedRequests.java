package dev.activator.observability;

import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionLookup;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the last failed request of each revision, until a later request of that revision is served.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class LastFailedRequests implements RequestObserver {
  private static final int SERVER_ERROR = 500;

  /** @param atNanos on the loops' clock */
  public record FailedRequest(RequestOutcome outcome, int status, long atNanos) {}

  private final LongSupplier nanoTime;
  private final RevisionLookup existing;
  private final Map<RevisionId, FailedRequest> last = new ConcurrentHashMap<>();
  private volatile Listener listener = (_, _, _) -> {
  };

  /** A listener that is called on the request's loop. */
  public interface Listener {
    void failed(RevisionId id, RequestOutcome outcome, int status);
  }

  /** @param existing no longer finds a revision when {@link #gone} is called for it */
  public LastFailedRequests(LongSupplier nanoTime, RevisionLookup existing) {
    this.nanoTime = nanoTime;
    this.existing = existing;
  }

  public void onFailure(Listener to) {
    listener = to;
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    var revision = request.revision();
    var outcome = request.outcome();
    if (step != Step.ENDED || revision == null || outcome == null
        || outcome == RequestOutcome.CALLER_GONE || outcome == RequestOutcome.WAITING_PAGE
        || outcome == RequestOutcome.NOT_WOKEN || outcome == RequestOutcome.FALLBACK) {
      return;
    }
    if (!outcome.served() || request.status() >= SERVER_ERROR) {
      listener.failed(revision.id(), outcome, request.status());
      last.put(revision.id(), new FailedRequest(outcome, request.status(), nanoTime.getAsLong()));
      if (existing.find(revision.id()) == null) {
        // The revision was deleted while the request was queued, so gone() will not be called
        // again.
        last.remove(revision.id());
      }
    } else if (!last.isEmpty()) {
      last.remove(revision.id());
    }
  }

  public @Nullable FailedRequest of(RevisionId id) {
    return last.get(id);
  }

  public void gone(RevisionId id) {
    last.remove(id);
  }
}
