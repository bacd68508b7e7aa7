package dev.activator.ext.console;

/** Why requests of a revision wait, or why none does, and what can be done about it. */
public enum WaitState {
  UNKNOWN("Check the namespace and the name; if it exists, the watches of the Kubernetes API are"
      + " late."),
  /** No request waits, and there is no pod. */
  AT_ZERO("Nothing to do: the first request starts a pod."),
  /** No request waits, and the listed pods do not take requests yet. */
  STARTING("Wait; if this stays, look at the pods' last probes and at their logs."),
  /** No request waits, and there is capacity. */
  SERVING("Nothing to do."),
  /**
   * No request waits. Requests are sent to the ClusterIP, because pods cannot be addressed
   * directly.
   */
  SERVING_BY_CLUSTER_IP("Nothing to do; if no mesh should be there, set mesh-compatibility-mode"
      + " in config-network."),
  /** There is capacity, and the waiting requests are about to run. */
  MOVING("Read this again in a second; if it stays, it is a bug."),
  BUSY(
      "Raise max-scale or containerConcurrency, or make the requests shorter; if it has fewer pods"
          + " than max-scale, the autoscaler's log says why.",
      "Raise maxReplicas or containerConcurrency, or make the requests shorter; its Events say why"
          + " it has this number of pods."),
  /** Pods have room, but each waiting request may run on one pod only, which has none. */
  BOUND("Raise containerConcurrency, or let other pods take such requests, by the annotation"
      + " activator.dev/affinity-mode: prefer.",
      "Raise containerConcurrency, or let other pods take such requests, by spec.affinity.mode:"
          + " prefer."),
  /** Each pod serves one key at a time. */
  EXCLUSIVE("Raise max-scale, make the requests shorter, or let keys share pods, by another"
      + " annotation activator.dev/affinity-mode.",
      "Raise maxReplicas, make the requests shorter, or let keys share pods, by another"
          + " spec.affinity.mode."),
  QUEUE_FULL("Raise max-scale or containerConcurrency, or the annotation"
      + " activator.dev/queue-capacity.",
      "Raise maxReplicas or containerConcurrency, or the annotation"
          + " activator.dev/queue-capacity."),
  NO_PODS("Look at the autoscaler's link and log, then at kubectl get deploy,pods,events and at"
      + " quotas.",
      "Look at kubectl describe scaledservice, then at kubectl get deploy,pods,events and at"
          + " quotas."),
  /** No request waits, there is no pod, and what starts pods cannot be reached. */
  NO_AUTOSCALER("Look at the autoscaler's pods and log, and at the network between it and this"
      + " activator.",
      "Look at the Lease and the log of the activator that scales, and at the network between it"
          + " and this one."),
  /** The Kubernetes API gives no news, on which every other state would depend. */
  NO_NEWS("Look at the Kubernetes API server and the network to it; what is said of pods is from"
      + " before. Pods that it listed before go on serving."),
  CANNOT_START("Fix the container's image, command, Secrets or ConfigMaps; kubectl logs and"
      + " kubectl describe pod say more."),
  /**
   * No request can start a pod, because an object that the ScaledService needs is missing, taken
   * or not allowed.
   */
  CANNOT_SCALE("Fix what the summary names; kubectl describe scaledservice says the same."),
  /** The scheduler found no node for its pods, and no autoscaler adds one. */
  NO_NODE("Look at kubectl describe pod: at what the pods request and select, at what tolerations"
      + " they lack, and at the limits of the autoscaler of nodes."),
  /** The pods run, but none was ready within the progress deadline. */
  OVERDUE("Check that the program listens on $PORT and that its readiness probe passes; kubectl"
      + " logs shows what it prints. One that needs longer gets more time by the annotation"
      + " serving.knative.dev/progress-deadline.",
      "Check that the program listens on the port of its Service and that its readiness probe"
          + " passes; kubectl logs shows what it prints. One that needs longer gets more time by"
          + " spec.progressDeadlineSeconds of its Deployment."),
  /** A process that served has ended, and will be restarted. */
  RESTARTING("Wait for the next try; its output and kubectl logs --previous say why it ended."),
  NOT_PROBED_YET("Read this again in a second."),
  NOT_ANSWERING("Check that the program listens on $PORT and that its readiness probe passes;"
      + " kubectl logs shows what it prints.",
      "Check that the program listens on the port of its Service and that its readiness probe"
          + " passes; kubectl logs shows what it prints."),
  /** The handshakes of TLS with the pods fail. */
  NOT_TRUSTED(
      "Compare the certificates of the pods with spec.tls; the activator's log names their"
          + " issuer, names and dates."),
  /** Pods answer our probe, but Kubernetes does not report them as ready. */
  NOT_READY("Look at the pod's probes and readiness gates with kubectl describe pod."),
  /** The permits of the pods are at other activators, and this one has none. */
  AT_PEERS("Read this again in a second; if it stays, raise max-scale or containerConcurrency, or"
      + " make the requests shorter.",
      "Read this again in a second; if it stays, raise maxReplicas or containerConcurrency, or make"
          + " the requests shorter."),
  /** Permits are reserved for an activator whose link is lost. */
  PEER_LOST("Wait, or mend the network between the activators (activator.lending.port); an"
      + " activator's links are in /actuator/activator."),
  /** Pods answer probes, but requests cannot be delivered, because of TLS or the network. */
  NOT_DELIVERABLE("Check TLS to pods and network policies; the activator's log has each"
      + " failure."),
  /**
   * The addresses of pods must not be used, and the Service has no ClusterIP, or its ClusterIP
   * does not answer.
   */
  NO_CLUSTER_IP("Look at the revision's private Service and at the mesh."),
  /** The first lists are not complete. */
  NOT_SYNCED("Check the watches of the Kubernetes API, and the permissions of the activator's"
      + " ServiceAccount.");

  private final String ofRevision;
  private final String ofScaledService;

  WaitState(String whatToDo) {
    this(whatToDo, whatToDo);
  }

  WaitState(String ofRevision, String ofScaledService) {
    this.ofRevision = ofRevision;
    this.ofScaledService = ofScaledService;
  }

  String whatToDo(Kind kind) {
    return kind == Kind.REVISION ? ofRevision : ofScaledService;
  }

  /** The kind of object that requests are for. The texts depend on it. */
  enum Kind {
    REVISION,
    SCALED_SERVICE
  }
}
