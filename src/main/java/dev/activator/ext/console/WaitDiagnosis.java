package dev.activator.ext.console;

import static dev.activator.ext.console.Html.count;
import static dev.activator.ext.console.Html.length;
import static java.util.stream.Collectors.joining;

import dev.activator.throttle.ThrottleView;
import dev.activator.backend.RevisionBackendsView.Address;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.upstream.UpstreamFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A diagnosis why requests of a revision wait: the first cause that applies, from the Kubernetes
 * API to the pods.
 *
 * @param missing what would have to change, with a line for each
 * @param whatToDo a sentence
 */
public record WaitDiagnosis(WaitState state, String summary, List<String> missing,
    String whatToDo) {

  private static final int MAX_NAMED_PODS = 3;
  private static final Duration MAX_LIST_TIME = Duration.ofSeconds(2);
  /** The states that a pod which is not listed yet may change. */
  private static final Set<WaitState> OF_LISTED_PODS = EnumSet.of(WaitState.AT_ZERO,
      WaitState.NO_AUTOSCALER,
      WaitState.STARTING, WaitState.BUSY, WaitState.BOUND, WaitState.EXCLUSIVE,
      WaitState.QUEUE_FULL, WaitState.NO_PODS,
      WaitState.CANNOT_START,
      WaitState.CANNOT_SCALE, WaitState.NO_NODE, WaitState.OVERDUE, WaitState.NOT_PROBED_YET,
      WaitState.NOT_ANSWERING,
      WaitState.NOT_READY, WaitState.NOT_TRUSTED, WaitState.NO_CLUSTER_IP);

  /** The states of pods that Kubernetes lists, and this activator hides. */
  private static final Set<WaitState> HIDDEN = EnumSet.of(WaitState.AT_ZERO, WaitState.NO_PODS,
      WaitState.NOT_READY);

  public WaitDiagnosis {
    missing = List.copyOf(missing);
  }

  /** @param kind the kind that this cluster has */
  static WaitDiagnosis unknown(RevisionId revision, WaitState.Kind kind) {
    boolean scaled = kind == WaitState.Kind.SCALED_SERVICE;
    return new WaitDiagnosis(WaitState.UNKNOWN,
        "There is no " + (scaled ? "ScaledService " : "revision or Service ") + revision + ".",
        List.of((scaled ? "a ScaledService" : "a Revision or a Service")
            + " of this name, in this namespace"),
        WaitState.UNKNOWN.whatToDo(kind));
  }

  static WaitDiagnosis of(RevisionSnapshot now) {
    var cause = cause(now);
    var missing = new ArrayList<>(cause.missing);
    if (!now.api().problems().isEmpty() && now.api().synced()) {
      missing.add("news from the Kubernetes API: " + String.join("; ", now.api().problems()));
    }
    return new WaitDiagnosis(cause.state, head(now) + cause.text + tail(now, cause), missing,
        cause.state.whatToDo(now.kind()));
  }

  /** The state of a diagnosis, with less work. */
  static WaitState state(RevisionSnapshot now) {
    return cause(now).state;
  }

  static String inUse(int capacity) {
    return capacity == 1 ? "the only permit is in use" : "all " + capacity + " permits are in use";
  }

  static String cannotStart(RevisionStartFailure failure) {
    if (failure.isOverdue()) {
      return "no pod was ready in time";
    }
    if (failure.isWithoutNode()) {
      return "no node takes its pods: " + failure.reason();
    }
    return (failure.lasting() ? "no pod can start: " : "its containers do not start: ")
        + failure.reason();
  }

  static String times(int failures) {
    return failures == 1 ? "once" : failures + " times";
  }

  private static String head(RevisionSnapshot now) {
    return waiting(now.queued()) + " for " + now.revision() + ": ";
  }

  static String waiting(int queued) {
    return switch (queued) {
      case 0 -> "No request waits";
      case 1 -> "1 request waits";
      default -> queued + " requests wait";
    };
  }

  private static String tail(RevisionSnapshot now, Cause cause) {
    if (now.queued() == 0) {
      return ".";
    }
    var tail = new StringBuilder();
    if (now.capacity() == 0) {
      tail.append(link(now.kind(), now.linkProblem()));
    }
    var start = now.queue().start();
    var requested = start.requested();
    if (requested == null) {
      tail.append("; the first has waited ").append(length(now.queue().now().oldestWait()));
    } else {
      tail.append(isUnsent(now, requested)
          ? "; a pod has been needed, and could not be requested, for " + length(requested)
          : "; a pod was first requested " + length(requested) + " ago");
      if (start.usual().isPositive()) {
        tail.append(", a start usually takes ").append(length(start.usual()));
      }
      var pod = ofPod(now);
      if (pod != null) {
        tail.append("; ").append(waitsFor(pod, requested));
      } else if (cause.state == WaitState.NO_PODS && arePodsUnknown(now, requested)) {
        tail.append("; it is unknown whether its pod was created, as the Kubernetes API has not"
            + " listed the pods of the revision");
      }
    }
    if (cause.state != WaitState.BOUND && now.queue().queue().bound().sum() > 0) {
      tail.append("; ").append(bound(now.queue().queue().bound()));
    }
    if (cause.state != WaitState.QUEUE_FULL && now.isQueueFull()) {
      tail.append("; the queue is full, new requests are refused");
    }
    return tail.append('.').toString();
  }

  /** Whether the link was down before a pod was needed, so that none has been requested. */
  private static boolean isUnsent(RevisionSnapshot now, Duration requested) {
    return !now.link().connected() && now.link().since().compareTo(requested) > 0;
  }

  /** Whether the pods have not been read for so long that the API does not answer, or may not. */
  private static boolean arePodsUnknown(RevisionSnapshot now, Duration requested) {
    return now.start() != null && !now.start().podsRead() && requested.compareTo(MAX_LIST_TIME) > 0;
  }

  /** The start, if it waits for a step that the status of its pod shows; otherwise null. */
  static @Nullable OngoingColdStart ofPod(RevisionSnapshot now) {
    var start = now.start();
    return start != null && start.podsRead() && start.current().isOfPod()
        ? start
        : null;
  }

  /** @param awaited the time since the first request found no pod */
  static String waitsFor(OngoingColdStart start, Duration awaited) {
    var current = start.current();
    var since = start.phases(awaited).getOrDefault(current, 0L);
    return (start.pod().isEmpty() ? "it" : "pod " + start.pod()) + " has waited for "
        + current.awaited() + " for " + length(Duration.ofNanos(since))
        + (start.reason().isEmpty()
            ? ""
            : " (" + start.reason() + (start.message().isEmpty() ? "" : ": " + start.message())
                + ")");
  }

  /**
   * The state of the link, after a semicolon. Without Knative, the text is empty while the link is
   * up.
   */
  static String link(WaitState.Kind kind, @Nullable String problem) {
    if (kind == WaitState.Kind.REVISION) {
      return "; the autoscaler link is " + (problem == null ? "up" : "down (" + problem + ")");
    }
    return problem == null
        ? ""
        : "; the link to the activator that scales is down (" + problem + ")";
  }

  private record Cause(WaitState state, String text, List<String> missing) {}

  private static Cause cause(WaitState state, String text, String... missing) {
    return new Cause(state, text, List.of(missing));
  }

  private static Cause cause(RevisionSnapshot now) {
    if (!now.api().synced()) {
      return cause(WaitState.NOT_SYNCED, "the first lists of the Kubernetes API are not complete",
          "complete lists: " + now.api().problems());
    }
    var known = ofKnownPods(now);
    var closed = now.api().closedAddresses();
    return closed == null || !OF_LISTED_PODS.contains(known.state)
        ? known
        : new Cause(WaitState.NO_NEWS, "the Kubernetes API has given no news of pods for "
            + length(Duration.ofNanos((long) (closed.closedSeconds() * 1e9))) + " ("
            + closed.problem() + "), so pods that started since are not seen; before, "
            + known.text, known.missing);
  }

  private static Cause ofKnownPods(RevisionSnapshot now) {
    if (now.capacity() > 0) {
      return now.queued() == 0 ? serving(now) : waitingForCapacity(now);
    }
    var known = now.queued() == 0 && now.pods().isEmpty()
        && now.queue().start().failure() == null ? atZero(now) : withoutCapacity(now);
    return HIDDEN.contains(known.state) && !now.hiddenPods().isEmpty()
        ? new Cause(known.state, now.hiddenPods(), known.missing)
        : known;
  }

  private static Cause atZero(RevisionSnapshot now) {
    var link = now.linkProblem();
    return link == null
        ? cause(WaitState.AT_ZERO, "it is at zero")
        : cause(WaitState.NO_AUTOSCALER,
            "it is at zero, and no request can start a pod while the link"
                + " to the " + starter(now) + " is down (" + link + ")",
            missingLink(now, link));
  }

  private static String starter(RevisionSnapshot now) {
    return now.isScaledService() ? "activator that scales" : "autoscaler";
  }

  private static String missingLink(RevisionSnapshot now, String problem) {
    return "the link to the " + starter(now) + ", which alone starts pods: " + problem;
  }

  private static Cause serving(RevisionSnapshot now) {
    var text = count(now.inFlight(), "request") + " in flight" + where(now);
    return cause(now.isByClusterIp() ? WaitState.SERVING_BY_CLUSTER_IP : WaitState.SERVING, text);
  }

  static String where(RevisionSnapshot now) {
    var clusterIp = now.clusterIp();
    return now.isByClusterIp() && clusterIp != null
        ? " by the ClusterIP " + clusterIp.destination()
            + ", as pods cannot be addressed one by one"
        : " on " + count(now.queue().destinations(), "pod");
  }

  private static Cause waitingForCapacity(RevisionSnapshot now) {
    var bound = now.queue().queue().bound();
    if (bound.sum() == now.queued()) {
      return cause(WaitState.BOUND, bound(bound), "requests that end at "
          + (bound.byPod().isEmpty()
              ? "these pods"
              : mostWanted(bound.byPod()).map(pod -> pod.getKey().toString())
                  .collect(joining(", "))));
    }
    var needPods = now.queue().queue().needPods();
    if (needPods != null && (needPods < now.queued() || now.inFlight() >= now.capacity())) {
      return cause(WaitState.EXCLUSIVE, exclusive(now, needPods) + share(now),
          "more pods, or keys whose requests end");
    }
    if (now.inFlight() < now.capacity()) {
      return cause(WaitState.MOVING, "there is room, and they are about to run" + where(now));
    }
    var reserved = PermitsElsewhere.reserved(now.queue().lending());
    if (!reserved.isEmpty()) {
      return peerLost(
          inUse(now.capacity()) + where(now) + ", and " + String.join(", and ", reserved));
    }
    var text = inUse(now.capacity()) + where(now) + share(now)
        + (now.queue().now().newestFirst()
            ? ", and callers leave before they are served, so the newest request runs first"
            : "");
    return now.isQueueFull()
        ? cause(WaitState.QUEUE_FULL,
            text + ", and so are all " + now.queue().queue().capacity()
                + " in the queue: new requests are refused",
            "more pods, or a longer queue")
        : cause(WaitState.BUSY, text, "more pods, or requests that end");
  }

  private static Stream<Map.Entry<Destination, Integer>> mostWanted(
      Map<Destination, Integer> bound) {
    return bound.entrySet().stream()
        .sorted(Map.Entry.<Destination, Integer>comparingByValue().reversed()
            .thenComparing(Map.Entry.comparingByKey()))
        .limit(MAX_NAMED_PODS);
  }

  /** Which pods alone may run the requests that wait for certain pods; the most wanted ones first. */
  private static String bound(ThrottleView.Bound all) {
    var bound = all.byPod();
    var text = mostWanted(bound)
        .map(pod -> pod.getValue() + " may run only on " + pod.getKey()
            + ", to which " + (pod.getValue() == 1 ? "its key belongs" : "their keys belong"))
        .collect(joining(", "))
        + (bound.size() > MAX_NAMED_PODS
            ? ", others on " + count(bound.size() - MAX_NAMED_PODS, "more pod")
            : "");
    return all.ofSeveral() == 0
        ? text
        : text + (text.isEmpty() ? "" : ", ") + all.ofSeveral()
            + " may run only on the pods that their gateway names";
  }

  /** One request of each key needs a pod; its others need room there. */
  private static String exclusive(RevisionSnapshot now, int needPods) {
    int others = now.queued() - needPods;
    return Stream.of(
        needPods == 0
            ? ""
            : needPods + (needPods == 1 ? " waits" : " wait")
                + " for a pod that no other key has",
        others == 0
            ? ""
            : others + (others == 1 ? " waits" : " wait")
                + " for room on the pod of " + (others == 1 ? "its key" : "their keys"))
        .filter(text -> !text.isEmpty()).collect(joining(", "));
  }

  private static String share(RevisionSnapshot now) {
    var lending = now.queue().lending();
    if (lending.sharing() == SharedPermitsView.Sharing.OWNED) {
      return PermitsElsewhere.shares(lending, now.queue().now().containerConcurrency());
    }
    var activator = now.queue().activator();
    return activator.activators() > 1 && activator.index() >= 0
        ? " (this is activator " + (activator.index() + 1) + " of " + activator.activators()
            + ", and has its share of " + count(now.pods().size(), "pod") + ")"
        : "";
  }

  private static Cause withoutCapacity(RevisionSnapshot now) {
    var failure = now.queue().start().failure();
    if (failure != null) {
      var text = cannotStart(failure)
          + (failure.message().isEmpty() ? "" : " (" + failure.message() + ")");
      if (failure.isOverdue()) {
        return cause(WaitState.OVERDUE, failure.message().isEmpty() ? text : failure.message(),
            "a pod that is ready");
      }
      if (failure.isWithoutNode()) {
        return cause(WaitState.NO_NODE, text, "a node that takes its pods");
      }
      return failure.lasting()
          ? cause(WaitState.CANNOT_SCALE, text, failure.message())
          : cause(WaitState.CANNOT_START, text, "containers that start");
    }
    if (now.processes().restarting()) {
      return cause(WaitState.RESTARTING, now.processProblem(), "the next start of its process");
    }
    if (now.pods().isEmpty()) {
      return noPods(now);
    }
    var cause = waitingForPods(now);
    if (now.queued() > 0 || cause.state == WaitState.PEER_LOST) {
      return cause;
    }
    return new Cause(cause.state == WaitState.AT_PEERS ? WaitState.SERVING : WaitState.STARTING,
        cause.text,
        cause.missing);
  }

  private static Cause noPods(RevisionSnapshot now) {
    var link = now.linkProblem();
    var pod = now.isScaledService()
        ? "a pod in the EndpointSlices of its Service"
        : "a pod in the revision's private Endpoints";
    return link == null
        ? cause(WaitState.NO_PODS, "no pod is listed", pod)
        : cause(WaitState.NO_PODS, "no pod is listed", pod, missingLink(now, link));
  }

  private static Cause waitingForPods(RevisionSnapshot now) {
    if (!now.podsAreProbed()) {
      return behindClusterIp(now);
    }
    var pods = now.pods();
    if (pods.stream().anyMatch(
        pod -> pod.serves() && !now.undelivered().contains(pod.destination()))) {
      return withoutPermits(now);
    }
    var worst = pods.stream().max(Comparator.comparingInt(Address::failures)).orElseThrow();
    if (UpstreamFailure.isOfHandshake(worst.probe().outcome())) {
      return cause(WaitState.NOT_TRUSTED,
          listed(now) + ", and TLS with none succeeds: " + why(worst),
          "a pod with a certificate that spec.tls trusts");
    }
    if (!now.undelivered().isEmpty()) {
      return cause(WaitState.NOT_DELIVERABLE,
          listed(now) + ", but requests could not be delivered to " + now.undelivered()
              + ": probes and requests take different paths (TLS, network policy)",
          "a connection to a pod; the log has the failure of each");
    }
    long answering = pods.stream().filter(Address::answers).count();
    if (answering > 0 && !now.probesBeforeReady()) {
      return cause(WaitState.NOT_READY, listed(now) + ", " + answering + " of them "
          + (answering == 1 ? "answers" : "answer")
          + ", and Kubernetes, which alone knows when they are ready, calls none so",
          "a pod that Kubernetes calls ready");
    }
    if (!now.processProblem().isEmpty()) {
      return cause(WaitState.NOT_ANSWERING, listed(now) + ", and " + now.processProblem(),
          "a process that is ready on the port in its variable PORT");
    }
    return worst.failures() > 0
        ? cause(WaitState.NOT_ANSWERING,
            listed(now) + ", and none answers our probe: " + why(worst),
            "a pod that answers our probe")
        : cause(WaitState.NOT_PROBED_YET, listed(now) + ", and the first answer is awaited",
            "an answer to our probe");
  }

  /** The pods serve, but this activator may run no request on them. */
  private static Cause withoutPermits(RevisionSnapshot now) {
    var lending = now.queue().lending();
    if (lending.sharing() == null) {
      return cause(WaitState.MOVING, listed(now) + ", and requests are about to be sent");
    }
    var reserved = PermitsElsewhere.reserved(now.queue().lending());
    if (!reserved.isEmpty()) {
      return peerLost(String.join(", and ", reserved));
    }
    var lost = PermitsElsewhere.lostOwners(lending);
    var text = listed(now) + ", but their permits are at other activators";
    return lost.isEmpty()
        ? cause(WaitState.AT_PEERS, text + PermitsElsewhere.owners(lending)
            + (lending.agreed() ? "" : ", which do not agree yet who owns new pods"),
            "permits from other activators")
        : peerLost(text + ": they belong to " + String.join(", and to ", lost));
  }

  private static Cause peerLost(String text) {
    return cause(WaitState.PEER_LOST, text, "a link between the activators");
  }

  static String listed(RevisionSnapshot now) {
    int listed = now.pods().size();
    return count(listed, "pod") + (listed == 1 ? " is" : " are") + " listed";
  }

  private static String why(Address address) {
    var ago = address.probe().ago();
    return address.probe().outcome() + " (" + address.destination() + ", "
        + times(address.failures())
        + (ago == null ? "" : ", last " + length(ago) + " ago") + ")";
  }

  private static Cause behindClusterIp(RevisionSnapshot now) {
    var clusterIp = now.clusterIp();
    if (clusterIp == null) {
      return cause(WaitState.NO_CLUSTER_IP,
          "pods must not be addressed (mesh-compatibility-mode: enabled), and the private Service"
              + " has no ClusterIP",
          "a ClusterIP, and a port of the revision's protocol, of the private Service");
    }
    return now.pods().stream().noneMatch(Address::ready)
        ? cause(WaitState.NOT_READY,
            listed(now) + ", and Kubernetes calls none ready, so the ClusterIP has no"
                + " endpoint",
            "a pod that Kubernetes calls ready")
        : cause(WaitState.NO_CLUSTER_IP,
            "the ClusterIP does not answer our probe: " + why(clusterIp),
            "an answer from the ClusterIP");
  }
}
