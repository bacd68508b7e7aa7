package dev.activator.ext.waitingpage;

import dev.activator.config.WaitingPageMode;
import dev.activator.http.HeaderFieldList;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers navigations with a waiting page while their revision starts, and the polls of such pages.
 * A page is not a queued request; its first navigation and its polls keep the start going.
 *
 * <p><b>Threads.</b> Any.
 */
public final class WaitingPages implements WaitPolicy, Arrival {
  private final WaitingPageMode mode;
  private final Supplier<WaitingPageTemplate> template;

  /** @param mode the mode of revisions without the annotation */
  public WaitingPages(WaitingPageMode mode, Supplier<WaitingPageTemplate> template) {
    this.mode = mode;
    this.template = template;
  }

  @Override
  public long afterNanos(Request request) {
    return WaitingPagePolicy.isOn(mode, request.revision().annotations())
        && WaitingPagePolicy.isNavigation(request.method(), request.fields())
            ? WaitingPagePolicy.DELAY.toNanos()
            : DeadlineCalculator.NONE;
  }

  @Override
  public Decision decide(Request request, StartStatus start, int retryAfterSeconds) {
    return new Answer(template.get().page(start, retryAfterSeconds,
        ErrorFormat.requestId(request.fields())), RequestOutcome.WAITING_PAGE);
  }

  @Override
  public @Nullable Instead of(Revision revision, String method, String path,
      HeaderFieldList fields) {
    return null;
  }

  @Override
  public @Nullable LocalResponse probe(String kind, LiveRevision revision, RequestDispatcher on) {
    if (!kind.equals(WaitingPagePolicy.POLL)
        || !WaitingPagePolicy.isOn(mode, revision.spec().annotations())) {
      return null;
    }
    var starts = on.seams().starts();
    var now = starts.of(revision);
    if (!now.ready()) {
      starts.keep(on, revision);
    }
    return WaitingPagePolicy.status(now);
  }
}
