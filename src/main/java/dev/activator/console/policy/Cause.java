package dev.activator.console.policy;

import dev.activator.console.policy.Situation.Pod;
import java.util.Comparator;
import java.util.List;

/**
 * The first thing that keeps requests from running.
 *
 * @param state in a word
 * @param text in half a sentence
 * @param missing what would have to be otherwise
 */
record Cause(State state, String text, List<String> missing) {
  private static Cause of(State state, String text, String... missing) {
    return new Cause(state, text, List.of(missing));
  }

  static Cause of(Situation now) {
    if (!now.signals().synced()) {
      return of(State.NOT_SYNCED, "not everything was heard yet of what the Kubernetes API has",
          "a complete list of Revisions, Services and Endpoints: " + now.signals().staleness());
    }
    if (now.room().capacity() > 0) {
      return now.demand().queued() == 0 ? serving(now) : waitingForRoom(now);
    }
    return now.demand().queued() == 0 && now.pods().isEmpty() && now.start().failure() == null
        ? of(State.AT_ZERO, "it is at zero")
        : withoutRoom(now);
  }

  private static Cause serving(Situation now) {
    var text = Words.count(now.demand().inFlight(), "request") + " in flight" + where(now);
    return of(now.routing().byClusterIp() ? State.SERVING_BY_CLUSTER_IP : State.SERVING, text);
  }

  private static String where(Situation now) {
    var clusterIp = now.routing().clusterIp();
    return now.routing().byClusterIp() && clusterIp != null
        ? " by the ClusterIP " + clusterIp.address() + ", as pods cannot be addressed one by one"
        : " on " + Words.count(now.room().destinations(), "pod");
  }

  private static Cause waitingForRoom(Situation now) {
    var room = now.room();
    if (now.demand().inFlight() < room.capacity()) {
      return of(State.MOVING, "there is room, and they are about to run" + where(now));
    }
    var text = "all " + room.capacity() + " places are taken" + where(now) + share(now);
    return Diagnosis.isFull(now)
        ? of(State.QUEUE_FULL,
            text + ", and so are all " + now.demand().queueCapacity() + " in the queue: newcomers"
                + " are refused",
            "more pods, or a longer queue")
        : of(State.BUSY, text, "more pods, or requests that end");
  }

  private static String share(Situation now) {
    var room = now.room();
    return room.activators() > 1 && room.activatorIndex() >= 0
        ? " (this is activator " + (room.activatorIndex() + 1) + " of " + room.activators()
            + ", and has its share of " + Words.count(now.pods().size(), "pod") + ")"
        : "";
  }

  private static Cause withoutRoom(Situation now) {
    var failure = now.start().failure();
    if (failure != null) {
      return of(State.CANNOT_START,
          "its containers do not start: " + failure.reason()
              + (failure.message().isEmpty() ? "" : " (" + failure.message() + ")"),
          "containers that start");
    }
    if (now.pods().isEmpty()) {
      return noPods(now);
    }
    return now.demand().queued() > 0 ? waitingForPods(now) : starting(waitingForPods(now));
  }

  /** The same where nobody is kept waiting by it. */
  private static Cause starting(Cause cause) {
    return new Cause(State.STARTING, cause.text, cause.missing);
  }

  private static Cause noPods(Situation now) {
    var link = now.signals().autoscaler();
    return link == null
        ? of(State.NO_PODS, "no pod is listed", "a pod in the revision's private Endpoints")
        : of(State.NO_PODS, "no pod is listed", "a pod in the revision's private Endpoints",
            "the link to the autoscaler, which alone asks for pods: " + link);
  }

  private static Cause waitingForPods(Situation now) {
    if (!now.routing().podsAreProbed()) {
      return behindClusterIp(now);
    }
    var pods = now.pods();
    if (pods.stream().anyMatch(Pod::serves) || !now.undelivered().isEmpty()) {
      return notDeliverable(now);
    }
    long answering = pods.stream().filter(Pod::answers).count();
    if (answering > 0 && !now.routing().probesBeforeReady()) {
      return of(State.NOT_READY, listed(now) + ", " + answering + " of them "
          + (answering == 1 ? "answers" : "answer")
          + ", and Kubernetes calls none ready, which an exec or startup probe decides",
          "a pod that Kubernetes calls ready");
    }
    return pods.stream().anyMatch(pod -> pod.failures() > 0)
        ? notAnswering(now)
        : of(State.NOT_PROBED_YET, listed(now) + ", and the first answer is awaited",
            "an answer to our probe");
  }

  private static String listed(Situation now) {
    int listed = now.pods().size();
    return Words.count(listed, "pod") + (listed == 1 ? " is" : " are") + " listed";
  }

  private static Cause notDeliverable(Situation now) {
    return of(State.NOT_DELIVERABLE,
        listed(now) + ", but requests could not be delivered to " + now.undelivered()
            + ": probes and requests take different ways (TLS, network policy)",
        "a connection to a pod; the log has the failure of each");
  }

  private static Cause notAnswering(Situation now) {
    var worst = now.pods().stream().max(Comparator.comparingInt(Pod::failures)).orElseThrow();
    return of(State.NOT_ANSWERING, listed(now) + ", and none answers our probe: " + why(worst),
        "a pod that answers our probe");
  }

  private static String why(Pod pod) {
    var ago = pod.probe().ago();
    return pod.probe().outcome() + " (" + pod.address() + ", "
        + (pod.failures() == 1 ? "once" : pod.failures() + " times")
        + (ago == null ? "" : ", last " + Words.of(ago) + " ago") + ")";
  }

  private static Cause behindClusterIp(Situation now) {
    var clusterIp = now.routing().clusterIp();
    if (clusterIp == null) {
      return of(State.NO_CLUSTER_IP,
          "pods must not be addressed (mesh-compatibility-mode: enabled), and the private Service"
              + " has no ClusterIP",
          "a ClusterIP, and a port of the revision's protocol, of the private Service");
    }
    if (now.pods().stream().noneMatch(Pod::ready)) {
      return of(State.NOT_READY,
          listed(now) + ", and Kubernetes calls none ready, without which the ClusterIP leads"
              + " nowhere",
          "a pod that Kubernetes calls ready");
    }
    return of(State.NO_CLUSTER_IP, "the ClusterIP does not answer our probe: " + why(clusterIp),
        "an answer from the ClusterIP");
  }
}
