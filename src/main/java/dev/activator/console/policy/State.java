package dev.activator.console.policy;

/** What a revision's requests wait for, or that they do not. */
public enum State {
  /** There is no such revision. */
  UNKNOWN,
  /** Nobody waits, and there is no pod. */
  AT_ZERO,
  /** Nobody waits, and pods are listed that take no requests yet. */
  STARTING,
  /** Nobody waits, and there is room. */
  SERVING,
  /** Nobody waits, and requests go to the ClusterIP as pods cannot be addressed. */
  SERVING_BY_CLUSTER_IP,
  /** There is room, and who waits is about to run. */
  MOVING,
  /** All places are taken. */
  BUSY,
  /** All places are taken, and so are all places in the queue. */
  QUEUE_FULL,
  /** Kubernetes lists no pod. */
  NO_PODS,
  /** Kubernetes says that the containers do not start. */
  CANNOT_START,
  /** Pods are listed, and none was heard of yet. */
  NOT_PROBED_YET,
  /** Pods are listed, and none answers our probe as it should. */
  NOT_ANSWERING,
  /** Pods answer, and must also be called ready by Kubernetes, which they are not. */
  NOT_READY,
  /** Pods answer probes, but requests could not be delivered to them: TLS, or the network. */
  NOT_DELIVERABLE,
  /** Pods must not be addressed, and the Service has no address, or does not answer. */
  NO_CLUSTER_IP,
  /** The activator has not yet heard everything that the Kubernetes API has to say. */
  NOT_SYNCED
}
