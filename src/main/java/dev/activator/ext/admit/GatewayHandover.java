package dev.activator.ext.admit;

import dev.activator.config.GoDuration;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.Delivery;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Hands requests over to a gateway, which sends them itself. A request waits here until the gateway
 * knows of a pod, and is then counted for as long as such a request usually takes.
 *
 * <p><b>Threads.</b> Confined to its loop.
 */
final class GatewayHandover implements Delivery, RevisionReadySince.Listener {
  /** The header of a 200 that contains the address and port of a pod that takes requests. */
  static final String POD = "K-Activator-Pod";
  private static final String REQUEST_DURATION = "activator.dev/request-duration";

  private final Loop loop;
  private final RequestCounter counter;
  private final RevisionReadySince pods;
  private final Duration countedFor;
  private final Map<RevisionId, Map<Exchange, Destination>> waiting = new HashMap<>();
  private boolean stopped;

  GatewayHandover(Loop loop, RequestCounter counter, RevisionReadySince pods,
      Duration countedFor) {
    this.loop = loop;
    this.counter = counter;
    this.pods = pods;
    this.countedFor = countedFor;
    pods.add(this);
  }

  @Override
  public void ready(RevisionId id) {
    loop.execute(() -> check(id));
  }

  @Override
  public void gone(RevisionId id) {
    loop.execute(() -> reject(id, new Rejection.RevisionGone(id)));
  }

  /** Rejects the requests that wait, and later ones. */
  void stop() {
    loop.execute(() -> {
      stopped = true;
      new ArrayList<>(waiting.keySet()).forEach(id -> reject(id, new Rejection.ShuttingDown(id)));
    });
  }

  private void reject(RevisionId id, Rejection reason) {
    var same = waiting.getOrDefault(id, Map.of());
    List.copyOf(same.keySet()).forEach(one -> {
      // An exchange that ends may end others of this map.
      if (same.containsKey(one)) {
        one.rejected(reason);
      }
    });
  }

  /** Keeps no permit, because the end of the request is not seen here. */
  @Override
  public void deliver(Exchange exchange, Permit permit) {
    var pod = permit.destination();
    var id = exchange.currentRevision().id();
    permit.release(Ending.UNCOUNTED);
    boolean isReady = isReady(id);
    if (!isReady && exchange.currentLive().hasEnded()) {
      // The revision was deleted after it had a pod. Requests that were waiting are already
      // rejected.
      exchange.rejected(new Rejection.RevisionGone(id));
    } else if (isReady) {
      handOver(exchange, pod);
    } else if (exchange.mayWait()) {
      whenReady(exchange, id, pod);
    } else {
      exchange.answerInstead();
    }
  }

  /** Answers that the gateway may send the request. The request is still counted for a while. */
  private void handOver(Exchange exchange, Destination pod) {
    if (exchange.mayWait()) {
      countOn(exchange.currentRevision());
    }
    exchange.endUncounted(LocalResponse.empty(200).with(POD, pod.toString()),
        RequestOutcome.HANDED_OVER);
  }

  private boolean isReady(RevisionId id) {
    return pods.nanosLeft(id) == 0;
  }

  /** Counts the request for a fixed time, because its end is not seen here. */
  private void countOn(Revision revision) {
    var id = revision.id();
    loop.schedule(duration(revision), () -> counter.left(id));
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

  private void whenReady(Exchange exchange, RevisionId id, Destination pod) {
    if (stopped) {
      exchange.rejected(new Rejection.ShuttingDown(id));
      return;
    }
    var same = waiting.computeIfAbsent(id, _ -> new LinkedHashMap<>());
    same.put(exchange, pod);
    if (same.size() == 1) {
      checkAfter(id, pods.nanosLeft(id));
    }
    long left = exchange.callerNanosLeft();
    if (left != DeadlineCalculator.NONE) {
      exchange.limitStep(left);
    }
  }

  private void checkAfter(RevisionId id, long nanos) {
    if (nanos < Long.MAX_VALUE) {
      loop.schedule(Duration.ofNanos(nanos), () -> check(id));
    }
  }

  @Override
  public void ended(Exchange exchange) {
    var id = exchange.currentRevision().id();
    var same = waiting.get(id);
    if (same != null && same.remove(exchange) != null && same.isEmpty()) {
      waiting.remove(id);
    }
  }

  private void check(RevisionId id) {
    var same = waiting.get(id);
    long left = pods.nanosLeft(id);
    if (same != null && left == 0) {
      List.copyOf(same.keySet()).forEach(one -> {
        // An exchange that ends may end others of this map.
        var pod = same.get(one);
        if (pod != null) {
          handOver(one, pod);
        }
      });
    } else if (same != null) {
      checkAfter(id, left);
    }
  }
}
