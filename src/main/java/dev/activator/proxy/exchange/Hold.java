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
public interface Hold {
  Hold NONE = new Hold() {
    @Override
    public long afterNanos(Held request) {
      return DeadlineCalculator.NONE;
    }

    @Override
    public End passed(Held request, StartStatus start, int retryAfterSeconds) {
      return new Unchanged();
    }
  };

  /**
   * A queued request.
   *
   * @param mayRedirect whether another revision may get it
   */
  record Held(Revision revision, String method, HeaderFieldList fields, boolean mayRedirect) {}

  /** What a request gets. */
  sealed interface End permits Unchanged, Answer, Redirect {}

  /** The hold changes nothing: a queued request stays queued, a rejected one fails. */
  record Unchanged() implements End {}

  record Answer(LocalResponse answer, RequestOutcome outcome) implements End {}

  record Redirect(LiveRevision to) implements End {}

  /** When {@link #passed} is called; 0 at once, {@link DeadlineCalculator#NONE} never. */
  long afterNanos(Held request);

  /** Called once that time has passed and the revision still takes no requests. */
  End passed(Held request, StartStatus start, int retryAfterSeconds);

  /** Called when the revision cannot start. */
  default End cannotStart(Held request) {
    return new Unchanged();
  }

  /** All of these as one; the first that has a time for a request decides about it. */
  static Hold first(List<Hold> all) {
    return all.isEmpty() ? NONE : new Hold() {
      @Override
      public long afterNanos(Held request) {
        for (var one : all) {
          long after = one.afterNanos(request);
          if (after != DeadlineCalculator.NONE) {
            return after;
          }
        }
        return DeadlineCalculator.NONE;
      }

      @Override
      public End passed(Held request, StartStatus start, int retryAfterSeconds) {
        return all.stream().filter(one -> one.afterNanos(request) != DeadlineCalculator.NONE)
            .findFirst().orElse(NONE).passed(request, start, retryAfterSeconds);
      }

      @Override
      public End cannotStart(Held request) {
        return all.stream().map(one -> one.cannotStart(request))
            .filter(end -> !(end instanceof Unchanged)).findFirst().orElseGet(Unchanged::new);
      }
    };
  }
}
