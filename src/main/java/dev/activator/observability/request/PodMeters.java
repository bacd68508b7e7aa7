package dev.activator.observability.request;

import dev.activator.observability.meter.Series;
import dev.activator.observability.meter.Sums;
import dev.activator.observability.meter.Tags;
import dev.activator.revision.Destination;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What is counted of a revision's requests on one loop as they go to its pods. Pods come and go: of
 * too many, the one that was asked least lately is forgotten.
 *
 * <p>
 * <b>Threads.</b> One records; any reads.
 */
public final class PodMeters {
  public static final int MOST_PODS = 128;

  private final Tags asked;
  private final Map<Destination, Pod> pods = new ConcurrentHashMap<>(4);

  /** One pod. */
  private final class Pod {
    private final Tags named;
    private final Series<ClientSeries> answered;
    private final Map<String, Series<ClientSeries>> failed = new ConcurrentHashMap<>(1);
    private long lastNanos;

    Pod(Destination destination) {
      named = asked.and("server.address", destination.host()).and("server.port",
          Integer.toString(destination.port()));
      answered = new Series<>(key -> new ClientSeries(HttpTraits.tags(named, key)));
    }

    private Series<ClientSeries> failed(String kind) {
      return failed.computeIfAbsent(kind.replace(' ', '_'), type -> new Series<>(
          key -> new ClientSeries(HttpTraits.tags(named, key).and("error.type", type))));
    }
  }

  /** @param asked the revision's tags */
  PodMeters(Tags asked) {
    this.asked = asked;
  }

  /** The pod has begun to respond. */
  void answered(RequestRecord request) {
    var pod = of(request, request.endedNanos());
    record(pod.answered, HttpTraits.podKey(request, request.responseStatus()), request,
        request.respondedNanos());
  }

  /** It has not, for a reason that is one of few. */
  void failed(RequestRecord request, String kind, long atNanos) {
    var pod = of(request, atNanos);
    record(pod.failed(kind), HttpTraits.podKey(request, 0), request, atNanos);
  }

  private static void record(Series<ClientSeries> series, int key, RequestRecord request,
      long untilNanos) {
    var found = series.find(key);
    if (found != null) {
      found.record(untilNanos - request.grantedNanos(), request.requestBytes());
    }
  }

  private Pod of(RequestRecord request, long nowNanos) {
    var destination = request.destination();
    if (destination == null) {
      throw new IllegalStateException("a request without a destination is not at a pod");
    }
    var pod = pods.get(destination);
    if (pod == null) {
      makeRoom();
      pod = pods.computeIfAbsent(destination, Pod::new);
    }
    pod.lastNanos = nowNanos;
    return pod;
  }

  private void makeRoom() {
    if (pods.size() < MOST_PODS) {
      return;
    }
    pods.entrySet().stream()
        .min((a, b) -> Long.signum(a.getValue().lastNanos - b.getValue().lastNanos))
        .ifPresent(oldest -> pods.remove(oldest.getKey()));
  }

  void addTo(Sums sums) {
    for (var pod : pods.values()) {
      pod.answered.all().forEach(each -> each.addTo(sums));
      pod.failed.values().forEach(kind -> kind.all().forEach(each -> each.addTo(sums)));
    }
  }
}
