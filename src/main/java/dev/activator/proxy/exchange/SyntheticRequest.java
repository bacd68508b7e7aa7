package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.LiveRevision;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A synthetic request, which no client has sent; it wakes a revision. It is queued and counted like
 * any other, so that the autoscaler starts a pod. It releases its permit at once.
 *
 * <p><b>Threads.</b> Confined to {@code loop}. The counter must belong to the same loop.
 */
public final class SyntheticRequest implements QueuedCaller {
  private final Loop loop;
  private final RevisionCount count;
  private final LiveRevision revision;
  private final Consumer<RequestOutcome> onEnd;
  private @Nullable QueueEntry entry;

  /**
   * @param onEnd called once, after the request was counted out: {@link RequestOutcome#ANSWERED} if a
   *     pod takes requests, {@link RequestOutcome#CALLER_GONE} if it was given up
   */
  public SyntheticRequest(Loop loop, RequestCounter counter, LiveRevision revision,
      Consumer<RequestOutcome> onEnd) {
    this.loop = loop;
    this.count = counter.of(revision);
    this.revision = revision;
    this.onEnd = onEnd;
  }

  /**
   * Admits the request. Call once.
   *
   * @return whether it is queued; false if it has already ended
   */
  public boolean start(BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle) {
    count.arrived();
    try {
      switch (throttle.apply(revision, this)) {
        case Permit now -> granted(now);
        case ThrottleDecision.NoRoom _ ->
          throw new IllegalStateException("a synthetic request may always wait");
        case QueueEntry later -> entry = later;
      }
    } catch (RuntimeException e) {
      // Counted out, because otherwise the revision would have demand for ever.
      end(RequestOutcome.INTERNAL);
      throw e;
    }
    return entry != null;
  }

  /** Leaves the queue. Ignored if the request has already ended. */
  public void giveUp() {
    var queued = entry;
    if (queued != null) {
      queued.giveUp();
      end(RequestOutcome.CALLER_GONE);
    }
  }

  @Override
  public Loop loop() {
    return loop;
  }

  @Override
  public void granted(Permit permit) {
    permit.release(Ending.UNCOUNTED);
    end(RequestOutcome.ANSWERED);
  }

  @Override
  public void rejected(Rejection reason) {
    end(RevisionStarts.failure(reason, false).outcome());
  }

  private void end(RequestOutcome how) {
    entry = null;
    count.left();
    onEnd.accept(how);
  }
}
