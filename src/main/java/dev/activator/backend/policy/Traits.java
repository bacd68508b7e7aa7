package dev.activator.backend.policy;

import dev.activator.backend.policy.Candidate.Belief;
import dev.activator.config.MeshMode;
import dev.activator.revision.RevisionId;

/**
 * What does not change while a revision is watched, and what follows from it for a pod.
 *
 * @param revision whose pods
 * @param addressing how pods can be reached
 * @param probesBeforeReady whether a pod that answers serves before Kubernetes calls it ready
 * @param pauses from a failure to the next probe
 */
public record Traits(RevisionId revision, Addressing addressing, boolean probesBeforeReady,
    Pauses pauses) {

  /** Whether requests may be sent to the pod. */
  public boolean serves(Candidate pod) {
    return (pod.ready() || probesBeforeReady) && (pod.answers() || trusts(pod));
  }

  /**
   * Whether the pod is to be probed, now or after a pause. A pod that answers is left alone, even if
   * it may not serve yet: Kubernetes calling it ready is then all that is missing.
   */
  boolean wantsProbe(Candidate pod) {
    return addressing.podsAreProbed() && pod.belief() != Belief.HEALTHY && !trusts(pod);
  }

  /** Whether Kubernetes' word is enough: where there is no mesh to be found out by a probe. */
  boolean trusts(Candidate pod) {
    return addressing.mesh() == MeshMode.DISABLED && pod.ready()
        && pod.belief() == Belief.UNKNOWN;
  }
}
