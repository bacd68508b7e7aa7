package dev.activator.observability;

import java.util.Arrays;
import java.util.List;

/**
 * Defines every meter: its name, kind, unit, labels and description; {@code docs/operations.md} is
 * checked against it.
 *
 * <p><b>Source.</b> {@code kn.} and {@code http.} are Knative's, name for name.
 */
public enum MetricDefinition {
  REQUEST_CONCURRENCY("kn.revision.request.concurrency", Kind.GAUGE, "{request}", Names.FULL,
      "Average number of the revision's requests, as last reported to the autoscaler, without the one"
          + " that woke it."),
  REQUEST_QUEUED("kn.revision.request.queued", Kind.UP_DOWN_COUNTER, "{request}", Names.SHORT,
      "Requests that wait for capacity."),
  REQUEST_ACTIVE("kn.revision.request.active", Kind.UP_DOWN_COUNTER, "{request}", Names.SHORT,
      "Requests that have a destination."),
  PODS_DESIRED("kn.revision.pods.desired", Kind.GAUGE, "{pod}", Names.SHORT,
      "Pods that the autoscaler in this process wants, within the bounds; only where it scales."),
  PODS_REQUESTED("kn.revision.pods.requested", Kind.GAUGE, "{pod}", Names.SHORT,
      "Replicas of the workload, as this process last read or wrote them."),
  PODS_COUNT("kn.revision.pods.count", Kind.GAUGE, "{pod}", Names.SHORT,
      "Pods of the workload, by its status when its scale was last read or written."),
  PODS_NOT_READY("kn.revision.pods.not_ready.count", Kind.GAUGE, "{pod}", Names.SHORT,
      "Pods of the workload that are not ready."),
  LINK_REACHABLE("kn.activator.stats.conn.reachable", Kind.GAUGE, "{reachable}", List.of("peer"),
      "Whether the autoscaler is connected, 1 or 0; no series before the first connection."),
  LINK_ERRORS("kn.activator.stats.conn.errors", Kind.COUNTER, "{error}", List.of("peer"),
      "Open connections to the autoscaler that were lost."),

  SERVER_DURATION("http.server.request.duration", Bounds.SECONDS, "s", Names.SERVER,
      "From a request's arrival to the last byte of its response, waiting included."),
  SERVER_ACTIVE("http.server.active_requests", Kind.UP_DOWN_COUNTER, "{request}",
      List.of("http.request.method", "url.scheme"),
      "Requests that have arrived and whose responses have not ended."),
  SERVER_REQUEST_SIZE("http.server.request.body.size", Bounds.BYTES, "By", Names.SERVER,
      "Bytes of the request's body that were received."),
  SERVER_RESPONSE_SIZE("http.server.response.body.size", Bounds.BYTES, "By", Names.SERVER,
      "Bytes of the response's body that were written."),
  CLIENT_DURATION("http.client.request.duration", Bounds.SECONDS, "s", Names.CLIENT,
      "From the permit for a pod to the head of its response, connecting included."),
  CLIENT_OPEN("http.client.open_connections", Kind.UP_DOWN_COUNTER, "{connection}",
      List.of("http.connection.state"),
      "Connections to pods, over all of them: state idle (of HTTP/1, without a request) or active (all"
          + " others, those of HTTP/2 included)."),
  CLIENT_REQUEST_SIZE("http.client.request.body.size", Bounds.BYTES, "By", Names.CLIENT,
      "Bytes of request bodies that were sent to a pod."),

  COLD_START("activator.cold.start.duration", Bounds.START_SECONDS, "s",
      List.of("phase", "outcome", Names.NAMESPACE, Names.REVISION),
      "Requests that came while their revision had no healthy pod: seconds in each phase, and in total."
          + " Tags of the revision only with activator.metrics.cold-start-labels."),
  START("activator.start.duration", Bounds.START_SECONDS, "s", List.of("phase"),
      "Starts from zero, by the first request that was answered: its seconds in each phase until a pod"
          + " answered."),
  QUEUE_DEPTH("activator.queue.depth", Kind.GAUGE, "{request}", List.of(),
      "Requests that wait, over all revisions."),
  QUEUE_OLDEST("activator.queue.oldest.age", Kind.GAUGE, "s", List.of(),
      "How long the oldest queued request has waited, over all revisions."),
  QUEUE_NEWEST_FIRST("activator.queue.newest.first", Kind.GAUGE, "{revision}", List.of(),
      "Revisions whose newest request runs first, since callers leave before they are served."),
  HELD_BYTES("activator.held.memory", Kind.GAUGE, "By", List.of(),
      "Memory held by requests that were not sent to a pod yet."),
  HELD_LIMIT("activator.held.limit", Kind.GAUGE, "By", List.of(), "The limit of held memory."),
  UNREAD_BYTES("activator.unread.memory", Kind.GAUGE, "By", List.of(),
      "Bytes of responses received from pods that callers have not read."),
  UNREAD_LIMIT("activator.unread.limit", Kind.GAUGE, "By", List.of(), "The limit of unread bytes."),
  UNREAD_ENDED("activator.unread.ended", Kind.COUNTER, "{response}", List.of("reason"),
      "Connections or streams that were ended because their callers did not read a response: reason"
          + " budget (too much was unread in total), or idle (nothing was read for too long)."),
  CONNECTIONS_ENDED("activator.connections.ended", Kind.COUNTER, "{connection}", List.of("reason"),
      "Connections that were ended because of what their callers sent: reason control-frames (more"
          + " than their budget), slow-head, partial-heads (incomplete heads held too much"
          + " memory), or other-limit (another limit of HTTP/2, such as the one on resets)."),
  REJECTIONS("activator.rejections", Kind.COUNTER, "{request}", List.of("reason"),
      "Requests that got no response from a pod, or an incomplete one."),
  WAITING_PAGES("activator.waiting.pages", Kind.COUNTER, "{page}", List.of(),
      "Navigations of browsers that were answered with a page that waits for the start."),
  NOT_WOKEN("activator.requests.not.woken", Kind.COUNTER, "{request}", List.of(),
      "Requests that a rule answered, so that they started no pod."),
  FALLBACKS("activator.fallbacks", Kind.COUNTER, "{request}", List.of("kind"),
      "Requests that a fallback took while their revision started: kind answer, or service."),
  SILENT_CONNECTIONS("activator.connections.silent", Kind.GAUGE, "{connection}", List.of(),
      "Upgraded connections that do not count for the autoscaler now, because nothing is sent."),
  RETRIES("activator.retries", Kind.COUNTER, "{request}", List.of(),
      "Requests that could not be delivered and were queued again for another pod."),
  PROBES("activator.probe.duration", Bounds.PROBE_SECONDS, "s", List.of("outcome"),
      "How long probes of pods took: outcome answered, failed, or refused by a pod that does not"
          + " listen yet."),
  REACTION("activator.pod.reaction", Bounds.START_SECONDS, "s", List.of(),
      "From the listing of a pod until requests can be sent to it."),
  INFORMER_AGE("activator.informer.age", Kind.GAUGE, "s", List.of("resource"),
      "Since the last event of the watch, or the last list; of several watches, the longest."),
  INFORMER_QUEUED("activator.informer.queued", Kind.GAUGE, "{object}", List.of("resource"),
      "Objects with a change that was received and is not stored yet."),
  INFORMER_WATCHING("activator.informer.watching", Kind.GAUGE, "{watch}", List.of("resource"),
      "Whether a watch is open, 1 or 0; of several, whether all are."),
  INFORMER_LISTS("activator.informer.lists", Kind.COUNTER, "{list}", List.of("resource"),
      "Full lists of the resource."),
  INFORMER_ENDS("activator.informer.watch.ends", Kind.COUNTER, "{watch}", List.of("resource"),
      "Watches that ended, for any reason; servers end each after five to ten minutes."),
  INFORMER_PENDING("activator.informer.handler.pending", Kind.GAUGE, "{object}",
      List.of("resource"), "Objects with a change that was not delivered to a handler yet."),
  INFORMER_PENDING_AGE("activator.informer.handler.oldest.age", Kind.GAUGE, "s",
      List.of("resource"), "Age of the oldest change that was not delivered to a handler yet."),
  INFORMER_FAILURES("activator.informer.failures", Kind.COUNTER, "{failure}", List.of("resource"),
      "Lists and watches that failed."),
  INFORMER_MISSED("activator.informer.missed.deletions", Kind.COUNTER, "{object}",
      List.of("resource"),
      "Objects that a new list no longer had, although no watch had reported their deletion."),
  INFORMER_DRIFT("activator.informer.drift", Kind.COUNTER, "{object}", List.of("resource"),
      "Objects that differed from a fresh list when the two were compared."),
  LOOP_DELAY("activator.loop.delay", Kind.GAUGE, "s", List.of("loop"),
      "How long a task waited for its turn on an event loop; measured every second."),
  LINK_FAILED_DIALS("activator.stats.dial.failures", Kind.COUNTER, "{failure}", List.of(),
      "Attempts to connect to the autoscaler that failed."),
  READY_WITHOUT_AUTOSCALER("activator.ready.without.autoscaler", Kind.GAUGE, "{activator}",
      List.of(), "1 while it serves requests although the autoscaler is not connected, else 0."),
  PEERS("activator.peers", Kind.GAUGE, "{activator}", List.of("state"),
      "Other activators, by state: linked, legacy (nothing listens, as with Knative's),"
          + " unauthorised (another key, or none), or unreachable."),
  PEER_FRAMES("activator.peer.frames", Kind.COUNTER, "{frame}", List.of("direction"),
      "Frames of the links to other activators: direction sent, or received."),
  PEER_ROUND_TRIP("activator.peer.round.trip.duration", Bounds.PROBE_SECONDS, "s", List.of(),
      "From a ping to its answer, on each link to another activator every two seconds."),
  PERMITS_LENT("activator.permits.lent", Kind.GAUGE, "{permit}", List.of(),
      "Permits of this activator's pods that others have now."),
  PERMITS_BORROWED("activator.permits.borrowed", Kind.GAUGE, "{permit}", List.of(),
      "Permits of other activators' pods that this one has now."),
  PERMITS_GRANTED("activator.permits.granted", Kind.COUNTER, "{permit}", List.of("direction"),
      "Permits that moved between activators: direction lent, or borrowed. A busy pair moves few,"
          + " since permits stay where they are used."),
  PERMITS_RECALLED("activator.permits.recalls", Kind.COUNTER, "{recall}", List.of("direction"),
      "Messages that call permits back, because older requests wait elsewhere: direction sent,"
          + " or received."),
  PERMITS_SAVED("activator.permits.saved", Kind.COUNTER, "s", List.of(),
      "An estimate of how much longer requests would have waited for this activator's own pods:"
          + " in a sample of each second, those that run on borrowed permits beyond what the own"
          + " pods have room for. A request counts at most for the time it runs."),
  KEEP_WARM_SAVED("activator.keep.warm.saved", Kind.COUNTER, "{start}", Names.SHORT,
      "Without Knative: starts that keeping a pod by the history of idle times has saved, or with"
          + " observe would have saved."),
  KEEP_WARM_COST("activator.keep.warm.pod", Kind.COUNTER, "s", Names.SHORT,
      "Without Knative: seconds for which a pod was there only because of that history, or with"
          + " observe would have been."),
  WAKE("activator.wake.duration", Bounds.START_SECONDS, "s", List.of("method"),
      "Without Knative, at the activator that scales: how long it took to start a workload by scale,"
          + " patch or http, until that was accepted, or to wake its pods after sleep, shrink or"
          + " freeze."),
  LEADER("activator.leader", Kind.GAUGE, "{activator}", List.of(),
      "Without Knative: 1 while this activator is the one that scales, else 0."),
  LEADER_TRANSITIONS("activator.leader.transitions", Kind.COUNTER, "{transition}", List.of(),
      "Without Knative: how many times the lease of the election has changed hands."),
  LEASE_AGE("activator.leader.lease.age", Kind.GAUGE, "s", List.of(),
      "Without Knative: time since this activator last saw the lease renewed, or renewed it;"
          + " above 15, no activator scales."),
  LEASE_FAILURES("activator.leader.lease.failures", Kind.COUNTER, "{failure}", List.of(),
      "Without Knative: reads and writes of the lease that failed."),
  SCALE_WRITES("activator.scale.writes", Kind.COUNTER, "{write}", List.of("result"),
      "Without Knative: writes of workloads' scale: result written, or why they failed,"
          + " such as conflict, forbidden or unavailable."),
  SCALE_HELD("activator.scale.held", Kind.GAUGE, "{workload}", List.of(),
      "Workloads that keep their scale although the autoscaler in this process decided on another:"
          + " another client scaled them, or not every activator has reported its requests."),
  AFFINITY("activator.affinity.requests", Kind.COUNTER, "{request}", List.of("pod"),
      "Requests that got a permit and have a key: pod own (the one that the key belongs to), or other"
          + " (that one had no room)."),
  AFFINITY_KEYS("activator.affinity.keys", Kind.GAUGE, "{key}", List.of(),
      "Keys of which the pod that issued them is known."),
  AFFINITY_KEYS_IN_FLIGHT("activator.affinity.keys.active", Kind.GAUGE, "{key}", List.of(),
      "Keys that have requests, of revisions whose pods serve one key at a time."),
  AFFINITY_LOST("activator.affinity.lost", Kind.COUNTER, "{key}", List.of("reason"),
      "Keys that no longer have the pod that issued them: reason pod-gone (counted with each request),"
          + " or evicted (there are too many keys)."),
  PICKER_STREAMS("activator.picker.streams", Kind.COUNTER, "{stream}", List.of("end"),
      "Streams of gateways, each a question for a pod, by their end: response (its end was seen), head (the"
          + " gateway closed after the head of the response), left (before the response), answered"
          + " (the caller got another answer than a pod's), cut (a deadline was over), or malformed"
          + " (the gateway broke the protocol)."),
  PICKER_MOVED("activator.picker.moved", Kind.COUNTER, "{request}", List.of(),
      "Requests that a gateway sent to another pod than the one that was chosen first."),
  PREWARM("activator.prewarm", Kind.COUNTER, "{start}", List.of("outcome", "source"),
      "Starts of revisions ahead of their requests, by what came of them: outcome used (a request came"
          + " when the start was over), late (before) or unused (none came); source wake-with."),
  PREWARM_SAVED("activator.prewarm.saved", Kind.COUNTER, "s", List.of("source"),
      "How long requests did not have to wait because of such starts."),
  LINES_DROPPED("activator.log.lines.dropped", Kind.COUNTER, "{line}", List.of(),
      "Lines for standard output that were dropped because the reader did not keep up."),
  SATURATION("activator.saturation", Kind.GAUGE, "1", List.of(),
      "How near the activator is to its limits, 0 to 1, for autoscaling it. The largest of: the"
          + " process's share of the processors it may use; held memory divided by its limit; and"
          + " the longest delay of a loop divided by 50 ms.");

  public enum Kind {
    GAUGE,
    /** A value that may fall. Values of several sources are added up. */
    UP_DOWN_COUNTER,
    COUNTER,
    HISTOGRAM
  }

  public static final class Names {
    public static final String SERVICE = "kn.service.name";
    public static final String CONFIGURATION = "kn.configuration.name";
    public static final String REVISION = "kn.revision.name";
    public static final String NAMESPACE = "k8s.namespace.name";
    public static final List<String> FULL = List.of(SERVICE, CONFIGURATION, REVISION, NAMESPACE);
    public static final List<String> SHORT = List.of(NAMESPACE, REVISION);
    public static final List<String> SERVER = List.of(SERVICE, CONFIGURATION, REVISION, NAMESPACE,
        "http.request.method", "url.scheme", "server.address", "server.port",
        "network.protocol.name", "network.protocol.version", "http.response.status_code");
    public static final List<String> CLIENT = List.of(SERVICE, CONFIGURATION, REVISION, NAMESPACE,
        "http.request.method", "url.scheme", "server.address", "server.port",
        "network.protocol.name", "network.protocol.version", "http.response.status_code",
        "error.type");

    private Names() {}
  }

  private final String text;
  private final Kind kind;
  private final String unit;
  private final List<String> tags;
  private final String sentence;
  private final long[] bounds;

  MetricDefinition(String text, Kind kind, String unit, List<String> tags, String sentence) {
    this(text, kind, new double[0], unit, tags, sentence);
  }

  MetricDefinition(String text, double[] bounds, String unit, List<String> tags, String sentence) {
    this(text, Kind.HISTOGRAM, bounds, unit, tags, sentence);
  }

  MetricDefinition(String text, Kind kind, double[] bounds, String unit, List<String> tags,
      String sentence) {
    this.text = text;
    this.kind = kind;
    this.unit = unit;
    this.tags = tags;
    this.sentence = sentence;
    this.bounds = Arrays.stream(bounds).mapToLong(bound -> Math.round(bound * perUnit()))
        .toArray();
  }

  public String text() {
    return text;
  }

  public Kind kind() {
    return kind;
  }

  /** The unit in UCUM. */
  public String unit() {
    return unit;
  }

  public List<String> tags() {
    return tags;
  }

  public String sentence() {
    return sentence;
  }

  /** The name for Prometheus, without the suffixes of counters and histograms. */
  public String familyName() {
    String suffix = switch (unit) {
      case "s" -> "_seconds";
      case "By" -> "_bytes";
      default -> "";
    };
    return text.replace('.', '_') + suffix;
  }

  public boolean isWhole() {
    return this != REQUEST_CONCURRENCY && kind != Kind.HISTOGRAM
        && (unit.startsWith("{") || unit.equals("By"));
  }

  /** Combines values of the same series: adds up counts, and takes the worst of ages and states. */
  double combine(double one, double other) {
    return switch (this) {
      case INFORMER_AGE, INFORMER_PENDING_AGE, QUEUE_OLDEST, LOOP_DELAY, LEASE_AGE ->
        Math.max(one, other);
      case INFORMER_WATCHING, LINK_REACHABLE -> Math.min(one, other);
      default -> one + other;
    };
  }

  /** The divisor of recorded values: nanoseconds per second, or 1. */
  double perUnit() {
    return unit.equals("s") ? 1e9 : 1;
  }

  /** The bounds of a histogram's buckets, in nanoseconds or bytes; empty for other meters. */
  public long[] bounds() {
    return bounds;
  }

  private static final class Bounds {
    /** OpenTelemetry's recommendation for requests. */
    static final double[] SECONDS = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5,
        5, 7.5, 10};
    /** For starts, which take longer than requests, and their phases, which may be shorter. */
    static final double[] START_SECONDS = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
        1, 2.5, 5, 10, 30, 60, 120, 300};
    /** For probes: from 0.5 ms to the timeout and above. */
    static final double[] PROBE_SECONDS = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
        0.2, 0.3, 0.5, 1};
    /** OpenTelemetry's default. */
    static final double[] BYTES = {0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000,
        7_500, 10_000};
  }
}
