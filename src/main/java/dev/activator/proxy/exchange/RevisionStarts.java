package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The starts of revisions, as requests see them: how far each is, and why one failed. A start whose
 * requests were answered early goes on: one stand-in per revision is queued and counted for them.
 *
 * <p><b>Threads.</b> Any.
 */
public final class RevisionStarts {
  /**
   * How long a start goes on without a request. Browsers let the timers of hidden tabs run only
   * once a second, or once a minute.
   */
  private static final Duration KEEP = Duration.ofSeconds(65);

  private final boolean showsMessages;
  private final Function<RevisionId, StartStatus> status;
  private final EarlyAnswers early;
  private final Slot<AtomicReference<@Nullable KeptStart>> slot;

  /** Records the start of a revision whose request was answered before. */
  @FunctionalInterface
  public interface EarlyAnswers {
    EarlyAnswers NONE = (_, _) -> _ -> {
    };

    /** Returns what to call with the outcome of the start. */
    Consumer<RequestOutcome> answeredEarly(RequestTimeline request, int status);
  }

  /**
   * @param showsMessages whether callers get the full text of why a revision cannot start; such
   *     texts name registries, addresses and Secrets
   * @param status called on any thread
   * @param early records the starts, which end long after their requests
   */
  public RevisionStarts(LiveRevisions revisions, boolean showsMessages,
      Function<RevisionId, StartStatus> status, EarlyAnswers early) {
    this.slot = revisions.declare("start that is kept", _ -> new AtomicReference<>());
    this.showsMessages = showsMessages;
    this.status = status;
    this.early = early;
  }

  public StartStatus of(LiveRevision revision) {
    return status.apply(revision.id());
  }

  /** The failure of a request that the throttler has rejected. */
  public RequestFailure failure(Rejection reason) {
    return failure(reason, showsMessages);
  }

  static RequestFailure failure(Rejection reason, boolean showsMessages) {
    return switch (reason) {
      case Rejection.QueueFull(_, int seconds) -> RequestFailure.queueFull(seconds);
      case Rejection.DeadlineTooNear(_, int seconds) -> RequestFailure.deadlineTooNear(seconds);
      case Rejection.RevisionGone(var revision) -> RequestFailure.revisionGone(revision);
      case Rejection.PodGone _ -> RequestFailure.podGone();
      case Rejection.GivenUp _ -> RequestFailure.unreachable();
      case Rejection.ShuttingDown(var revision) -> RequestFailure.shuttingDown(revision);
      case Rejection.CannotStart(var revision, var why) ->
        RequestFailure.cannotStart(revision, why.reason(),
            showsMessages ? why.message() : why.forCallers());
    };
  }

  /**
   * Keeps a stand-in queued after the request that began the start has left, so that the start goes
   * on.
   *
   * @param how the answer of the request that has left
   * @param status of that answer
   */
  void keep(RequestDispatcher on, LiveRevision revision, RequestTimeline request,
      RequestOutcome how,
      int status) {
    keep(on, revision, how, early.answeredEarly(request, status));
  }

  /** Keeps a stand-in queued that no request waits for. */
  public void keep(RequestDispatcher on, LiveRevision revision) {
    keep(on, revision, RequestOutcome.WAITING_PAGE, _ -> {
    });
  }

  private void keep(RequestDispatcher on, LiveRevision revision, RequestOutcome whenReady,
      Consumer<RequestOutcome> onEnd) {
    var kept = revision.slot(slot);
    if (kept == null) {
      onEnd.accept(RequestOutcome.REVISION_GONE);
      return;
    }
    var fresh = new KeptStart(on, revision, kept, whenReady, onEnd);
    var known = kept.compareAndExchange(null, fresh);
    if (known == null) {
      fresh.start();
    } else {
      known.lastKeptNanos = on.loop().nanoTime();
    }
  }

  private final class KeptStart {
    private final RequestDispatcher on;
    private final AtomicReference<@Nullable KeptStart> kept;
    private final RequestOutcome whenReady;
    private final Consumer<RequestOutcome> onEnd;
    private final SyntheticRequest standIn;
    private volatile long lastKeptNanos;
    private Loop.@Nullable Timer timer;

    KeptStart(RequestDispatcher on, LiveRevision revision,
        AtomicReference<@Nullable KeptStart> kept,
        RequestOutcome whenReady, Consumer<RequestOutcome> onEnd) {
      this.on = on;
      this.kept = kept;
      this.whenReady = whenReady;
      this.onEnd = onEnd;
      this.standIn = new SyntheticRequest(on.loop(), on.counter(), revision,
          this::ended);
      this.lastKeptNanos = on.loop().nanoTime();
    }

    void start() {
      if (standIn.start(on.throttle())) {
        timer = on.loop().schedule(KEEP, this::giveUpIfForgotten);
      }
    }

    private void giveUpIfForgotten() {
      long left = KEEP.toNanos() - (on.loop().nanoTime() - lastKeptNanos);
      if (left > 0) {
        timer = on.loop().schedule(Duration.ofNanos(left), this::giveUpIfForgotten);
      } else {
        standIn.giveUp();
      }
    }

    private void ended(RequestOutcome how) {
      if (timer != null) {
        timer.cancel();
      }
      kept.compareAndSet(this, null);
      onEnd.accept(how == RequestOutcome.ANSWERED ? whenReady : how);
    }
  }
}
