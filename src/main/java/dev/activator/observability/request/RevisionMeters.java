package dev.activator.observability.request;

import dev.activator.observability.meter.Meters.Reading;
import dev.activator.observability.meter.Metric.Names;
import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.OtlpMeters;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The series of one revision's requests. Callers choose hosts and methods, and pods come and go, so
 * there are limits: past them, requests are counted together, and the pod that was asked least
 * recently is forgotten.
 *
 * <p>
 * <b>Threads.</b> Any may call. A lock is taken only to add a series.
 */
public final class RevisionMeters {
  public static final int MOST_HOSTS = 32;
  public static final int MOST_SERIES = 512;
  public static final int MOST_PODS = 128;
  private static final double NANOS = 1e9;

  final LongAdder queued = new LongAdder();
  final LongAdder active = new LongAdder();
  /** NaN before the first report. */
  volatile double reported = Double.NaN;
  private final @Nullable Revision revision;
  private final Labels labels;
  private final Map<String, Group> hosts = new ConcurrentHashMap<>(2);
  private final Map<Destination, Pod> pods = new ConcurrentHashMap<>(4);
  private final Group overflow;
  private int series;

  /** @param revision null for requests of none */
  RevisionMeters(@Nullable Revision revision) {
    this.revision = revision;
    this.labels = HttpLabels.of(revision);
    this.overflow = new Group(labels.add(OtlpMeters.OVERFLOW, "true"));
  }

  /** Whether it is this revision's, and not that of an earlier one of the same name. */
  boolean isOf(Revision other) {
    return revision != null && (revision == other || revision.uid().equals(other.uid()));
  }

  /** The request is over, as its caller sees it. */
  void ended(RequestRecord request) {
    int traits = HttpLabels.traits(request, request.status());
    var group = host(request.host());
    var found = group.find(traits);
    (found == null ? addServer(group, traits) : found).record(
        request.endedNanos() - request.arrivedNanos(), request.requestBytes(),
        request.responseBytes());
  }

  private Group host(String text) {
    var found = hosts.get(text);
    return found == null ? addHost(text) : found;
  }

  private synchronized Group addHost(String text) {
    String kept = hosts.size() < MOST_HOSTS ? text : HttpLabels.OTHER;
    var named = kept.equals(HttpLabels.OTHER)
        ? labels.add("server.address", HttpLabels.OTHER)
        : HttpLabels.Host.parse(kept).addTo(labels);
    // Texts that differ may name the same host.
    return hosts.computeIfAbsent(kept, _ -> hosts.values().stream()
        .filter(known -> known.labels.equals(named)).findFirst().orElseGet(() -> new Group(named)));
  }

  private synchronized Series addServer(Group group, int traits) {
    var known = group.find(traits);
    if (known != null) {
      return known;
    }
    if (series < MOST_SERIES) {
      series++;
      return group.add(Series.ofCallers(traits, HttpLabels.withTraits(group.labels, traits)));
    }
    var rest = overflow.find(0);
    return rest == null ? overflow.add(Series.ofCallers(0, overflow.labels)) : rest;
  }

  /** A pod has responded. */
  void answered(RequestRecord request) {
    var pod = pod(request, request.endedNanos());
    record(pod.answered, HttpLabels.podTraits(request, request.responseStatus()), request,
        request.respondedNanos());
  }

  /** It has not, for one of few reasons. */
  void failed(RequestRecord request, String reason, long atNanos) {
    var pod = pod(request, atNanos);
    var group = pod.failed.computeIfAbsent(reason.replace(' ', '_'),
        type -> new Group(pod.answered.labels.add("error.type", type)));
    record(group, HttpLabels.podTraits(request, 0), request, atNanos);
  }

  private void record(Group group, int traits, RequestRecord request, long untilNanos) {
    var found = group.find(traits);
    (found == null ? addClient(group, traits) : found)
        .record(untilNanos - request.grantedNanos(), request.requestBytes(), 0);
  }

  private synchronized Series addClient(Group group, int traits) {
    var known = group.find(traits);
    return known == null
        ? group.add(Series.ofPod(traits, HttpLabels.withTraits(group.labels, traits)))
        : known;
  }

  private Pod pod(RequestRecord request, long nowNanos) {
    var destination = request.destination();
    if (destination == null) {
      throw new IllegalStateException("a request without a destination is not at a pod");
    }
    var pod = pods.get(destination);
    if (pod == null) {
      pod = addPod(destination);
    }
    pod.lastNanos = nowNanos;
    return pod;
  }

  private synchronized Pod addPod(Destination destination) {
    if (pods.size() >= MOST_PODS) {
      pods.entrySet().stream()
          .min((a, b) -> Long.signum(a.getValue().lastNanos - b.getValue().lastNanos))
          .ifPresent(oldest -> pods.remove(oldest.getKey()));
    }
    return pods.computeIfAbsent(destination,
        address -> new Pod(new Group(HttpLabels.withPod(labels, address))));
  }

  void addTo(Reading reading) {
    if (revision != null) {
      var id = Labels.of(Names.NAMESPACE, revision.id().namespace(), Names.REVISION,
          revision.id().name());
      reading.add(Metric.REQUEST_QUEUED, id, queued.sum());
      reading.add(Metric.REQUEST_ACTIVE, id, active.sum());
    }
    if (!Double.isNaN(reported)) {
      reading.add(Metric.REQUEST_CONCURRENCY, labels, reported);
    }
    hosts.values().stream().distinct().forEach(host -> host.addTo(reading));
    overflow.addTo(reading);
    for (var pod : pods.values()) {
      pod.answered.addTo(reading);
      pod.failed.values().forEach(group -> group.addTo(reading));
    }
  }

  /** What requests to one pod are counted in; failures by their type. */
  private static final class Pod {
    final Group answered;
    final Map<String, Group> failed = new ConcurrentHashMap<>(1);
    /** Several loops write it without order: it is only compared to find a pod long unused. */
    long lastNanos;

    Pod(Group answered) {
      this.answered = answered;
    }
  }

  /** Series that share these labels and differ in their traits: few, and found without garbage. */
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

    /** Called under the revision's lock. */
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

  /** The histograms of requests that have all labels in common. */
  private record Series(int traits, Metric duration, Histogram seconds, Metric requestSize,
      Histogram requestBytes, @Nullable Histogram responseBytes) {

    static Series ofCallers(int traits, Labels labels) {
      return new Series(traits, Metric.SERVER_DURATION, Metric.SERVER_DURATION.histogram(labels),
          Metric.SERVER_REQUEST_SIZE, Metric.SERVER_REQUEST_SIZE.histogram(labels),
          Metric.SERVER_RESPONSE_SIZE.histogram(labels));
    }

    static Series ofPod(int traits, Labels labels) {
      return new Series(traits, Metric.CLIENT_DURATION, Metric.CLIENT_DURATION.histogram(labels),
          Metric.CLIENT_REQUEST_SIZE, Metric.CLIENT_REQUEST_SIZE.histogram(labels), null);
    }

    void record(long tookNanos, long received, long sent) {
      seconds.observe(tookNanos / NANOS);
      requestBytes.observe(received);
      if (responseBytes != null) {
        responseBytes.observe(sent);
      }
    }

    void addTo(Reading reading) {
      reading.add(duration, seconds);
      reading.add(requestSize, requestBytes);
      if (responseBytes != null) {
        reading.add(Metric.SERVER_RESPONSE_SIZE, responseBytes);
      }
    }
  }
}
