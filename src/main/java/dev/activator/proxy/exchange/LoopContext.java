package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.upstream.PodConnectionPools;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What all exchanges of a loop share, so that each needs only one reference.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
public record LoopContext(Loop loop, Router router,
    BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pools,
    RequestCounter counter, Memory memory, Seams seams) {

  /** The loop's shares of the limits of memory. */
  public record Memory(HeldRequestBytes.Share held, UnreadResponseBytes.Share unread) {}

  /**
   * Where observers and extensions are attached. {@link Router} has one more, {@link Arrival}.
   *
   * @param delivery null if requests are forwarded
   */
  public record Seams(RequestObserver observer, RevisionStarts starts, Hold hold,
      TunnelWatcher tunnels, @Nullable Delivery delivery) {
    /** Without extensions. */
    public static Seams of(LiveRevisions revisions, RequestObserver observer) {
      var starts = new RevisionStarts(revisions, false, _ -> StartStatus.UNKNOWN,
          RevisionStarts.EarlyAnswers.NONE);
      return new Seams(observer, starts, Hold.NONE, TunnelWatcher.NONE, null);
    }
  }

  /** The same for requests that are delivered in another way. */
  public LoopContext with(Delivery delivery) {
    return new LoopContext(loop, router, throttle, pools, counter, memory,
        new Seams(seams.observer, seams.starts, seams.hold, seams.tunnels, delivery));
  }
}
