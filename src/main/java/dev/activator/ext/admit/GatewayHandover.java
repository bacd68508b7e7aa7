package dev.activator.ext.admit;

import dev.activator.config.GoDuration;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Seams.Delivery;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.Rejection;
import io.netty.handler.codec.http.HttpRequest;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Hands requests over to a gateway, which sends them itself. A request waits here until the gateway
 * knows of a pod, and is then counted for as long as such a request usually takes.
 *
 * <p><b>Threads.</b> Confined to its loop.
 */
final class GatewayHandover implements Delivery {
  /** The header of a 200 that contains the address and port of a pod that takes requests. */
  static final String POD = "K-Activator-Pod";
  private static final String REQUEST_DURATION = "activator.dev/request-duration";

  private final Loop loop;
  private final RevisionReadySince pods;
  private final Duration countedFor;
  private final Duration questionTimeout;
  private final LiveRevisions revisions;
  /** The requests of this loop that wait, each with the pod that it got. */
  private final Slot<Map<Exchange, Destination>> slot;
  private boolean stopped;

  /**
   * @param countedFor how long a request counts once the gateway sends it
   * @param questionTimeout how long the message of a question may take to arrive
   */
  GatewayHandover(Loop loop, RevisionReadySince pods, LiveRevisions revisions, Duration countedFor,
      Duration questionTimeout) {
    this.loop = loop;
    this.pods = pods;
    this.countedFor = countedFor;
    this.questionTimeout = questionTimeout;
    this.revisions = revisions;
    this.slot = revisions.declare("requests for a gateway", _ -> new LinkedHashMap<>(),
        same -> loop.execute(() -> reject(same, Rejection.RevisionGone::new)));
    pods.onReady(revision -> loop.execute(() -> check(revision)));
  }

  @Override
  public void question(HttpRequest question, Downstream gateway, RequestDispatcher on) {
    GatewayQuestion.answer(question, gateway, on, questionTimeout);
  }

  /** Rejects the requests that wait here after this time, and later ones. */
  void stopAfter(Duration delay) {
    loop.schedule(delay, () -> {
      stopped = true;
      revisions.all(slot).forEach(same -> reject(same, Rejection.ShuttingDown::new));
    });
  }

  private static void reject(Map<Exchange, Destination> same,
      Function<RevisionId, Rejection> reason) {
    // An exchange that ends may end others of this map; those ignore a rejection.
    List.copyOf(same.keySet())
        .forEach(one -> one.rejected(reason.apply(one.servingSpec().id())));
  }

  /** Keeps no permit, because the end of the request is not seen here. */
  @Override
  public void deliver(Exchange exchange, Permit permit) {
    var pod = permit.destination();
    permit.release(Ending.UNCOUNTED);
    if (pods.nanosLeft(exchange.serving()) == 0) {
      handOver(exchange, pod);
    } else if (exchange.mayWait()) {
      whenReady(exchange, pod);
    } else {
      exchange.answerInstead();
    }
  }

  /** Answers that the gateway may send the request. The request is still counted for a while. */
  private void handOver(Exchange exchange, Destination pod) {
    if (exchange.mayWait()) {
      // Counted for a fixed time, because its end is not seen here.
      loop.schedule(duration(exchange.servingSpec()), exchange.count()::left);
    }
    exchange.endUncounted(LocalResponse.empty(200).with(POD, pod.toString()),
        RequestOutcome.HANDED_OVER);
  }

  private Duration duration(Revision revision) {
    var own = revision.annotations().get(REQUEST_DURATION);
    try {
      return own == null ? countedFor : GoDuration.parse(own.strip());
    } catch (IllegalArgumentException e) {
      // An invalid annotation is reported where annotations are checked.
      return countedFor;
    }
  }

  private void whenReady(Exchange exchange, Destination pod) {
    var revision = exchange.serving();
    var same = revision.slot(slot);
    if (stopped || same == null) {
      exchange.rejected(stopped
          ? new Rejection.ShuttingDown(revision.id())
          : new Rejection.RevisionGone(revision.id()));
      return;
    }
    same.put(exchange, pod);
    if (same.size() == 1) {
      checkAfter(revision, pods.nanosLeft(revision));
    }
    long left = exchange.callerNanosLeft();
    if (left != DeadlineCalculator.NONE) {
      exchange.limitStep(left);
    }
  }

  private void checkAfter(LiveRevision revision, long nanos) {
    if (nanos < Long.MAX_VALUE) {
      loop.schedule(Duration.ofNanos(nanos), () -> check(revision));
    }
  }

  @Override
  public void ended(Exchange exchange) {
    var same = exchange.serving().peek(slot);
    if (same != null) {
      same.remove(exchange);
    }
  }

  private void check(LiveRevision revision) {
    var same = revision.peek(slot);
    long left = pods.nanosLeft(revision);
    if (same != null && left == 0) {
      List.copyOf(same.keySet()).forEach(one -> {
        // An exchange that ends may end others of this map.
        var pod = same.get(one);
        if (pod != null) {
          handOver(one, pod);
        }
      });
    } else if (same != null && !same.isEmpty()) {
      checkAfter(revision, left);
    }
  }
}
