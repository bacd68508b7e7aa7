package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.WaitingPageStatus;
import dev.activator.proxy.policy.WaitingPagePolicy;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.waking.SyntheticRequest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers navigations with a waiting page while their revision starts. A page is not a queued
 * request, so a stand-in is queued and counted for all pages of a revision until they no longer
 * poll.
 *
 * <p><b>Threads.</b> Any.
 */
public final class WaitingPages {
  /**
   * How long a start goes on without a poll. Browsers let the timers of hidden tabs run only once a
   * second, or once a minute.
   */
  private static final Duration KEEP = Duration.ofSeconds(65);

  private final WaitingPagePolicy.Mode mode;
  private final Supplier<WaitingPageTemplate> template;
  private final Function<RevisionId, WaitingPageStatus> status;
  private final EarlyAnswers early;
  private final Map<RevisionId, KeptStart> starts = new ConcurrentHashMap<>();

  /**
   * @param mode the mode of revisions without the annotation
   * @param status called on any thread
   * @param early records the starts, which end long after their requests
   */
  public WaitingPages(WaitingPagePolicy.Mode mode, Supplier<WaitingPageTemplate> template,
      Function<RevisionId, WaitingPageStatus> status,
      EarlyAnswers early) {
    this.mode = mode;
    this.template = template;
    this.status = status;
    this.early = early;
  }

  /** Records the start of a revision whose request was answered before. */
  @FunctionalInterface
  public interface EarlyAnswers {
    /** Returns what to call with the outcome of the start. */
    Consumer<RequestOutcome> answeredEarly(RequestTimeline request, int status);
  }

  private WaitingPageStatus status(RevisionId id) {
    return status.apply(id);
  }

  /** Whether the revision takes no requests yet. */
  boolean isStarting(Revision revision) {
    return !status(revision.id()).ready();
  }

  /** Why the revision takes no requests yet; empty if unknown. */
  String why(Revision revision) {
    return status(revision.id()).why();
  }

  private boolean isOn(Revision revision) {
    return mode.with(revision.annotations()) == WaitingPagePolicy.Mode.AUTO;
  }

  boolean isFor(ObservedHttpRequest request, Revision revision) {
    return isOn(revision)
        && WaitingPagePolicy.isFor(WaitingPagePolicy.Mode.AUTO, request.method(), request.fields());
  }

  LocalResponse page(RequestDispatcher dispatcher, ObservedHttpRequest request, Revision revision,
      int retryAfterSeconds) {
    keep(dispatcher, revision, request, RequestOutcome.WAITING_PAGE, 503);
    return template.get().page(status(revision.id()), retryAfterSeconds,
        ErrorFormat.requestId(request.fields()));
  }

  /** @param off the answer if the revision has no waiting page */
  LocalResponse poll(RequestDispatcher dispatcher, Revision revision, LocalResponse off) {
    if (!isOn(revision)) {
      return off;
    }
    var now = status(revision.id());
    if (!now.ready()) {
      keep(dispatcher, revision);
    }
    return WaitingPagePolicy.status(now);
  }

  /**
   * Keeps a stand-in queued after the request that began the start has left, so that the start goes
   * on.
   *
   * @param how the answer of the request that has left
   * @param status of that answer
   */
  void keep(RequestDispatcher dispatcher, Revision revision, ObservedHttpRequest request,
      RequestOutcome how, int status) {
    keep(dispatcher, revision, how, early.answeredEarly(request, status));
  }

  /** Keeps a stand-in queued that no request waits for. */
  void keep(RequestDispatcher dispatcher, Revision revision) {
    keep(dispatcher, revision, RequestOutcome.WAITING_PAGE, _ -> {
    });
  }

  private void keep(RequestDispatcher dispatcher, Revision revision, RequestOutcome whenReady,
      Consumer<RequestOutcome> onEnd) {
    var fresh = new KeptStart(dispatcher, revision, whenReady, onEnd);
    var known = starts.putIfAbsent(revision.id(), fresh);
    if (known == null) {
      fresh.start();
    } else {
      known.lastPolled = dispatcher.loop().nanoTime();
    }
  }

  private final class KeptStart {
    private final RequestDispatcher dispatcher;
    private final RevisionId id;
    private final RequestOutcome whenReady;
    private final Consumer<RequestOutcome> onEnd;
    private final SyntheticRequest standIn;
    private volatile long lastPolled;
    private Loop.@Nullable Timer timer;

    KeptStart(RequestDispatcher dispatcher, Revision revision, RequestOutcome whenReady,
        Consumer<RequestOutcome> onEnd) {
      this.dispatcher = dispatcher;
      this.id = revision.id();
      this.whenReady = whenReady;
      this.onEnd = onEnd;
      this.standIn = dispatcher.standIn(revision, end -> ended(outcome(end)));
      this.lastPolled = dispatcher.loop().nanoTime();
    }

    void start() {
      if (dispatcher.start(standIn)) {
        timer = dispatcher.loop().schedule(KEEP, this::giveUpIfForgotten);
      }
    }

    private void giveUpIfForgotten() {
      var loop = dispatcher.loop();
      long left = KEEP.toNanos() - (loop.nanoTime() - lastPolled);
      if (left > 0) {
        timer = loop.schedule(Duration.ofNanos(left), this::giveUpIfForgotten);
      } else {
        standIn.giveUp();
      }
    }

    private RequestOutcome outcome(SyntheticRequest.End end) {
      return switch (end) {
        case SyntheticRequest.End.Ready() -> whenReady;
        case SyntheticRequest.End.Rejected(var reason) ->
          ObservedHttpRequest.outcome(dispatcher.failure(reason));
        case SyntheticRequest.End.GivenUp() -> RequestOutcome.CALLER_GONE;
        case SyntheticRequest.End.Failed() -> RequestOutcome.INTERNAL;
      };
    }

    private void ended(RequestOutcome how) {
      if (timer != null) {
        timer.cancel();
      }
      starts.remove(id, this);
      onEnd.accept(how);
    }
  }
}
