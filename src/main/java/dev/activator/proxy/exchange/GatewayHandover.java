package dev.activator.proxy.exchange;

import dev.activator.config.GoDuration;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
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
public final class GatewayHandover implements RevisionReadySince.Listener {
  /** The header of a 200 that contains the address and port of a pod that takes requests. */
  public static final String POD = "K-Activator-Pod";
  private static final String REQUEST_DURATION = "activator.dev/request-duration";

  private final Loop loop;
  private final RequestCounter counter;
  private final RevisionReadySince pods;
  private final Duration countedFor;
  private final Map<RevisionId, Map<Exchange, Destination>> waiting = new HashMap<>();
  private boolean stopped;

  GatewayHandover(Loop loop, RequestCounter counter, RevisionReadySince pods, Duration countedFor) {
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

  boolean isReady(RevisionId id) {
    return pods.nanosLeft(id) == 0;
  }

  /** Counts the request for a fixed time, because its end is not seen here. */
  void countOn(Revision revision) {
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

  void whenReady(Exchange exchange, Destination pod) {
    var id = exchange.currentRevision().id();
    if (isReady(id)) {
      exchange.handedOver(pod, this);
      return;
    }
    if (stopped) {
      exchange.rejected(new Rejection.ShuttingDown(id));
      return;
    }
    var same = waiting.computeIfAbsent(id, _ -> new LinkedHashMap<>());
    same.put(exchange, pod);
    if (same.size() == 1) {
      checkAfter(id, pods.nanosLeft(id));
    }
  }

  private void checkAfter(RevisionId id, long nanos) {
    if (nanos < Long.MAX_VALUE) {
      loop.schedule(Duration.ofNanos(nanos), () -> check(id));
    }
  }

  void forget(Exchange exchange) {
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
          one.handedOver(pod, this);
        }
      });
    } else if (same != null) {
      checkAfter(id, left);
    }
  }
}
