package dev.activator.backend.policy;

import dev.activator.backend.policy.PodHealth.State;
import dev.activator.config.MeshMode;
import dev.activator.revision.RevisionId;

/**
 * The rules by which a revision's pods are probed and count as serving; fixed while the revision
 * is watched.
 *
 * @param probesBeforeReady whether a pod that answers serves before Kubernetes calls it ready
 */
public record ProbePolicy(RevisionId revision, MeshAddressing addressing, boolean probesBeforeReady,
    ProbeBackoff backoff) {

  /**
   * @param passthrough whether the mesh lets single pods be addressed, with the right headers; the
   * ClusterIP is then never used
   */
  public record MeshAddressing(MeshMode mesh, boolean passthrough) {
    public static final MeshAddressing DEFAULT = new MeshAddressing(MeshMode.AUTO, false);

    /** Whether pods are probed. A mesh that is always there would not let probes through. */
    public boolean podsAreProbed() {
      return mesh != MeshMode.ENABLED;
    }

    public boolean clusterIpMayServe() {
      return mesh != MeshMode.DISABLED && !passthrough;
    }
  }

  public boolean serves(PodHealth pod) {
    return (pod.ready() || probesBeforeReady) && (pod.answers() || isReadinessEnough(pod));
  }

  /**
   * Whether the pod is to be probed, now or after a pause. A pod that answers is not probed, even
   * if it serves only once it is ready.
   */
  boolean wantsProbe(PodHealth pod) {
    return addressing.podsAreProbed() && pod.state() != State.HEALTHY && !isReadinessEnough(pod);
  }

  /** Whether a ready pod serves without a probe, because no mesh has to be detected. */
  boolean isReadinessEnough(PodHealth pod) {
    return addressing.mesh() == MeshMode.DISABLED && pod.ready()
        && pod.state() == State.UNKNOWN;
  }
}
