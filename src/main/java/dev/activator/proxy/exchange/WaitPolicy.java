package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import java.util.List;

/**
 * Decides what a queued request gets instead of waiting until its revision has started. The start
 * continues. A function of values: the exchange carries out what it decides.
 *
 * <p><b>Threads.</b> Any loop; must not block.
 *
 * <p><b>Units.</b> Nanoseconds since the request was queued.
 *
 * <p><b>Source.</b> Envoy's {@code StopIteration}, after which a filter answers or continues.
 */
public interface WaitPolicy {
  WaitPolicy NONE = new WaitPolicy() {
    @Override
    public long afterNanos(Request request) {
      return DeadlineCalculator.NONE;
    }

    @Override
    public Decision decide(Request request, StartStatus start, int retryAfterSeconds) {
      return new Unchanged();
    }
  };

  /**
   * A queued request.
   *
   * @param mayRedirect whether another revision may get it
   */
  record Request(Revision revision, String method, HeaderFieldList fields, boolean mayRedirect) {}

  /** What a request gets. */
  sealed interface Decision permits Unchanged, Answer, Redirect {}

  /** Nothing changes: a queued request stays queued, a rejected one fails. */
  record Unchanged() implements Decision {}

  record Answer(LocalResponse answer, RequestOutcome outcome) implements Decision {}

  record Redirect(LiveRevision to) implements Decision {}

  /** When {@link #decide} is called; 0 at once, {@link DeadlineCalculator#NONE} never. */
  long afterNanos(Request request);

  /** Called once that time has passed and the revision still takes no requests. */
  Decision decide(Request request, StartStatus start, int retryAfterSeconds);

  /** Called when the revision cannot start. */
  default Decision cannotStart(Request request) {
    return new Unchanged();
  }

  /** All of these as one; the first that has a time for a request decides about it. */
  static WaitPolicy first(List<WaitPolicy> all) {
    return all.isEmpty() ? NONE : new WaitPolicy() {
      @Override
      public long afterNanos(Request request) {
        for (var one : all) {
          long after = one.afterNanos(request);
          if (after != DeadlineCalculator.NONE) {
            return after;
          }
        }
        return DeadlineCalculator.NONE;
      }

      @Override
      public Decision decide(Request request, StartStatus start, int retryAfterSeconds) {
        return all.stream().filter(one -> one.afterNanos(request) != DeadlineCalculator.NONE)
            .findFirst().orElse(NONE).decide(request, start, retryAfterSeconds);
      }

      @Override
      public Decision cannotStart(Request request) {
        return all.stream().map(one -> one.cannotStart(request))
            .filter(one -> !(one instanceof Unchanged)).findFirst().orElseGet(Unchanged::new);
      }
    };
  }
}
