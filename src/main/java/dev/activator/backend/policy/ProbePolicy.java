package dev.activator.backend.policy;

import dev.activator.backend.policy.PodHealth.State;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.revision.RevisionId;

/**
 * The rules that decide whether a revision's pods are probed, and whether they get requests ({@link #serves}). They are
 * fixed while the revision is watched.
 *
 * @param probesBeforeReady whether a pod that answers serves before Kubernetes reports it as ready
 * @param kubeletProbesToo whether our probe is one that the kubelet sends to the container, too. Then
 *     a pod that Kubernetes reports as ready serves if it accepts connections, whatever it answers
 *     to ours
 */
public record ProbePolicy(RevisionId revision, MeshAddressing addressing, boolean probesBeforeReady,
    boolean kubeletProbesToo, ProbeBackoff backoff) {

  /**
   * @param passthrough whether the mesh lets requests with the right headers address single pods;
   *     then the ClusterIP is never used
   */
  public record MeshAddressing(MeshMode mesh, boolean passthrough) {
    public static final MeshAddressing DEFAULT = new MeshAddressing(MeshMode.AUTO, false);

    /**
     * Whether pods are probed. If a mesh is always present, it would not let the probes through.
     */
    public boolean podsAreProbed() {
      return mesh != MeshMode.ENABLED;
    }

    public boolean clusterIpMayServe() {
      return mesh != MeshMode.DISABLED && !passthrough;
    }
  }

  /**
   * @param clusterIpIsKnown if not, there is no way around a mesh, so that a pod's 502 or 503 counts
   *     as any other answer
   */
  public boolean serves(PodHealth pod, boolean clusterIpIsKnown) {
    return (pod.ready() || probesBeforeReady) && (pod.answers() || isReadinessEnough(pod)
        || kubeletProbesToo && pod.ready() && !clusterIpIsKnown && pod.mayBeBehindMesh());
  }

  /**
   * Whether the pod must be probed, now or after a pause. A pod that has answered is not probed,
   * even if it does not serve until it is ready.
   */
  boolean wantsProbe(PodHealth pod) {
    return addressing.podsAreProbed() && pod.state() != State.HEALTHY && !isReadinessEnough(pod);
  }

  /** Whether the pod serves without an answer, because Kubernetes reports it as ready. */
  private boolean isReadinessEnough(PodHealth pod) {
    return servesUnprobed(pod) || kubeletProbesToo && pod.ready() && pod.acceptsConnections();
  }

  /** Whether the pod serves without a probe, because it is ready and no mesh has to be detected. */
  boolean servesUnprobed(PodHealth pod) {
    return addressing.mesh() == MeshMode.DISABLED && pod.ready()
        && pod.state() == State.UNKNOWN;
  }
}
