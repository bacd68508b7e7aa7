package dev.activator.observability;

import dev.activator.observability.PerThreadHistogram.PerThreadCounts;
import dev.activator.observability.Meters.Reading;
import dev.activator.observability.PerThreadHistogram.TracedValues;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The series of one revision's requests. Their number is limited, because callers choose hosts and
 * methods; beyond the limit, requests share a series. If there are too many pods, the least
 * recently used one is dropped.
 *
 * <p><b>Threads.</b> Any may call. A lock is taken to add a series, and for requests beyond a
 * limit.
 */
final class RevisionMeters {
  public static final int MAX_HOSTS = 32;
  public static final int MAX_SERIES = 512;
  public static final int MAX_PODS = 128;
  /**
   * The precision of the last use. It is coarse, so that loops rarely write to the same cache line.
   */
  private static final long LAST_USE_NANOS = 1_000_000;
  private static final int QUEUED = 0;
  private static final int ACTIVE = 1;

  private final PerThreadCounts requests = new PerThreadCounts(2);
  /** NaN before the first report. */
  volatile double reported = Double.NaN;
  private final @Nullable Revision revision;
  private final Labels labels;
  private final Map<String, Group> hosts = new ConcurrentHashMap<>(2);
  private final Map<Destination, PodMeters> pods = new ConcurrentHashMap<>(4);
  private final Group overflow;
  private int series;

  /** @param revision null for requests without a revision */
  RevisionMeters(@Nullable Revision revision) {
    this.revision = revision;
    this.labels = HttpLabels.of(revision);
    this.overflow = new Group(HttpLabels.ofOverflow(labels));
  }

  void queued(RequestTimeline request, int more) {
    PerThreadCounts.add(requests.own(request.thread), QUEUED, more);
  }

  void active(RequestTimeline request, int more) {
    PerThreadCounts.add(requests.own(request.thread), ACTIVE, more);
  }

  void ended(RequestTimeline request) {
    int traits = HttpLabels.traits(request, request.status());
    var group = host(request.host());
    var found = group.find(traits);
    if (found == null && series >= MAX_SERIES) {
      found = overflow.find(0);
    }
    (found == null ? addServer(group, traits) : found).record(request,
        request.endedNanos() - request.arrivedNanos());
  }

  private Group host(String text) {
    var found = hosts.get(text);
    if (found == null && hosts.size() > MAX_HOSTS) {
      // Without the lock, for the case that callers vary the host.
      found = hosts.get(HttpLabels.OTHER);
    }
    return found == null ? addHost(text) : found;
  }

  private synchronized Group addHost(String text) {
    String kept = hosts.size() < MAX_HOSTS ? text : HttpLabels.OTHER;
    var named = kept.equals(HttpLabels.OTHER)
        ? HttpLabels.withOtherHost(labels)
        : HttpLabels.Host.parse(kept).addTo(labels);
    // Different texts may name the same host.
    return hosts.computeIfAbsent(kept, _ -> hosts.values().stream()
        .filter(known -> known.labels.equals(named)).findFirst().orElseGet(() -> new Group(named)));
  }

  private synchronized Series addServer(Group group, int traits) {
    var known = group.find(traits);
    if (known != null) {
      return known;
    }
    if (series < MAX_SERIES) {
      series++;
      return group.add(Series.ofCallers(traits, HttpLabels.withTraits(group.labels, traits)));
    }
    var rest = overflow.find(0);
    return rest == null ? overflow.add(Series.ofCallers(0, overflow.labels)) : rest;
  }

  void answered(RequestTimeline request) {
    var pod = pod(request, request.endedNanos());
    record(pod.answered, HttpLabels.podTraits(request, request.responseStatus()), request,
        request.respondedNanos());
  }

  void failed(RequestTimeline request, String reason, long atNanos) {
    var pod = pod(request, atNanos);
    var group = pod.failed.computeIfAbsent(reason.replace(' ', '_'),
        type -> new Group(HttpLabels.withError(pod.answered.labels, type)));
    record(group, HttpLabels.podTraits(request, 0), request, atNanos);
  }

  private void record(Group group, int traits, RequestTimeline request, long untilNanos) {
    var found = group.find(traits);
    (found == null ? addClient(group, traits) : found)
        .record(request, untilNanos - request.grantedNanos());
  }

  private synchronized Series addClient(Group group, int traits) {
    var known = group.find(traits);
    return known == null
        ? group.add(Series.ofPod(traits, HttpLabels.withTraits(group.labels, traits)))
        : known;
  }

  private PodMeters pod(RequestTimeline request, long nowNanos) {
    var destination = request.destination();
    if (destination == null) {
      throw new IllegalStateException("a request without a destination is not at a pod");
    }
    var pod = pods.get(destination);
    if (pod == null) {
      pod = addPod(destination, nowNanos);
    }
    if (nowNanos - pod.lastNanos >= LAST_USE_NANOS) {
      pod.lastNanos = nowNanos;
    }
    return pod;
  }

  private synchronized PodMeters addPod(Destination destination, long nowNanos) {
    if (pods.size() >= MAX_PODS) {
      pods.entrySet().stream()
          .min((a, b) -> Long.signum(a.getValue().lastNanos - b.getValue().lastNanos))
          .ifPresent(oldest -> pods.remove(oldest.getKey()));
    }
    return pods.computeIfAbsent(destination,
        address -> new PodMeters(new Group(HttpLabels.withPod(labels, address)), nowNanos));
  }

  void addTo(Reading reading) {
    if (revision != null) {
      var id = Labels.of(HttpLabels.NAMESPACE, revision.id().namespace(), HttpLabels.REVISION,
          revision.id().name());
      var now = requests.sums(QUEUED, ACTIVE + 1);
      reading.add(MetricDefinition.REQUEST_QUEUED, id, now[QUEUED]);
      reading.add(MetricDefinition.REQUEST_ACTIVE, id, now[ACTIVE]);
    }
    if (!Double.isNaN(reported)) {
      reading.add(MetricDefinition.REQUEST_CONCURRENCY, labels, reported);
    }
    hosts.values().stream().distinct().forEach(host -> host.addTo(reading));
    overflow.addTo(reading);
    for (var pod : pods.values()) {
      pod.answered.addTo(reading);
      pod.failed.values().forEach(group -> group.addTo(reading));
    }
  }

  /** The series of a pod: of answered requests, and of failed ones by type. */
  private static final class PodMeters {
    final Group answered;
    final Map<String, Group> failed = new ConcurrentHashMap<>(1);
    /**
     * Written by several threads without a lock: it is only used to find a pod that was not used
     * for long.
     */
    long lastNanos;

    PodMeters(Group answered, long nowNanos) {
      this.answered = answered;
      this.lastNanos = nowNanos;
    }
  }

  /** Series that differ only in their traits. */
  private static final class Group {
    final Labels labels;
    private volatile Series[] all = {};

    Group(Labels labels) {
      this.labels = labels;
    }

    @Nullable Series find(int traits) {
      for (var each : all) {
        if (each.traits == traits) {
          return each;
        }
      }
      return null;
    }

    /** Call under the revision's lock. */
    Series add(Series fresh) {
      var more = Arrays.copyOf(all, all.length + 1);
      more[more.length - 1] = fresh;
      all = more;
      return fresh;
    }

    void addTo(Reading reading) {
      for (var each : all) {
        each.addTo(reading);
      }
    }
  }

  private static final class Series {
    final int traits;
    private final PerThreadCounts counts;
    private final PerThreadHistogram duration;
    private final PerThreadHistogram requestSize;
    private final @Nullable PerThreadHistogram responseSize;

    private Series(int traits, Labels labels, MetricDefinition duration,
        MetricDefinition requestSize,
        @Nullable MetricDefinition responseSize) {
      int second = PerThreadHistogram.size(duration);
      int third = second + PerThreadHistogram.size(requestSize);
      this.traits = traits;
      this.counts = new PerThreadCounts(
          third + (responseSize == null ? 0 : PerThreadHistogram.size(responseSize)));
      this.duration = new PerThreadHistogram(duration, labels, counts, 0, new TracedValues());
      this.requestSize = new PerThreadHistogram(requestSize, labels, counts, second, null);
      this.responseSize = responseSize == null
          ? null
          : new PerThreadHistogram(responseSize, labels, counts, third, null);
    }

    static Series ofCallers(int traits, Labels labels) {
      return new Series(traits, labels, MetricDefinition.SERVER_DURATION,
          MetricDefinition.SERVER_REQUEST_SIZE, MetricDefinition.SERVER_RESPONSE_SIZE);
    }

    static Series ofPod(int traits, Labels labels) {
      return new Series(traits, labels, MetricDefinition.CLIENT_DURATION,
          MetricDefinition.CLIENT_REQUEST_SIZE, null);
    }

    void record(RequestTimeline request, long tookNanos) {
      var own = counts.own(request.thread);
      duration.record(own, tookNanos);
      var trace = request.trace;
      if (trace != null && trace.isExemplar()) {
        duration.trace(tookNanos, trace.traceId(), trace.spanId(),
            trace.epochMillis(request.now()));
      }
      requestSize.record(own, request.requestBytes());
      if (responseSize != null) {
        responseSize.record(own, request.responseBytes());
      }
    }

    void addTo(Reading reading) {
      reading.add(duration);
      reading.add(requestSize);
      if (responseSize != null) {
        reading.add(responseSize);
      }
    }
  }
}
