package dev.activator.backend.policy;

import dev.activator.backend.policy.PodHealth.State;
import dev.activator.config.MeshMode;
import dev.activator.revision.RevisionId;

/**
 * How the pods of one revision are probed, which does not change while they are watched.
 *
 * @param addressing how pods can be reached
 * @param probesBeforeReady whether a pod that answers serves before Kubernetes calls it ready
 * @param backoff from a failure to the next probe
 */
public record ProbeTraits(RevisionId revision, MeshAddressing addressing, boolean probesBeforeReady,
    ProbeBackoff backoff) {

  /**
   * How the pods of all revisions can be reached where a mesh may be in the way.
   *
   * @param passthrough whether the mesh lets single pods be addressed, given the right headers; then
   *     the ClusterIP is never used
   */
  public record MeshAddressing(MeshMode mesh, boolean passthrough) {
    /** Knative's defaults. */
    public static final MeshAddressing DEFAULT = new MeshAddressing(MeshMode.AUTO, false);

    /** Whether pods are probed: in a mesh their probes would not reach them. */
    public boolean podsAreProbed() {
      return mesh != MeshMode.ENABLED;
    }

    /** Whether requests may go to the ClusterIP when no pod answers. */
    public boolean clusterIpMayServe() {
      return mesh != MeshMode.DISABLED && !passthrough;
    }
  }

  /** Whether requests may be sent to the pod. */
  public boolean serves(PodHealth pod) {
    return (pod.ready() || probesBeforeReady) && (pod.answers() || isReadinessEnough(pod));
  }

  /**
   * Whether the pod is to be probed, now or after a pause. A pod that answers is not, even if it must
   * still become ready before it serves.
   */
  boolean wantsProbe(PodHealth pod) {
    return addressing.podsAreProbed() && pod.state() != State.HEALTHY && !isReadinessEnough(pod);
  }

  /** Whether a pod serves without a probe because it is ready: where no mesh has to be detected. */
  boolean isReadinessEnough(PodHealth pod) {
    return addressing.mesh() == MeshMode.DISABLED && pod.ready()
        && pod.state() == State.UNKNOWN;
  }
}
