package dev.activator.discovery;

import dev.activator.kube.ClusterStartup;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.policy.IpFamily;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.List;

/**
 * The objects of a mode, other than Knative's, from which revisions are made. A Knative Revision
 * takes precedence over an object of its name until it is deleted.
 *
 * <p><b>Threads.</b> The thread of the start for {@link #follow} and {@link #followMore}; then the
 * cluster's loop.
 */
public interface RevisionSource {
  /**
   * Begins to follow the objects.
   *
   * @param preferred the IP family of pods that have several
   */
  List<KubernetesSession.Followed> follow(KubernetesSession session, IpFamily preferred, Sink to);

  /** What must be listed after the objects of {@link #follow}, and before requests are taken. */
  List<ClusterStartup.Beginning> followMore();

  /** The revisions that were reported for an object, one for each of its ports. */
  List<RevisionId> revisionsOf(RevisionId object);

  /** Called when a Knative Revision of this name was created or deleted. */
  void onRevisionChange(RevisionId name);

  /** Called when a Knative Service of this name may have got its first revision, or lost its last. */
  void onServiceChange(RevisionId name);

  /** The label selector of a revision's pods; empty if it is none of this source, or unknown. */
  String podSelector(RevisionId id);

  /**
   * Receives what a source reports. It leaves out what belongs to a name that a Knative Revision has;
   * the source is called back when that has changed.
   *
   * <p><b>Threads.</b> The cluster's loop. Any thread may call {@link #isNameTaken}.
   */
  interface Sink {
    /** Whether a Knative Revision has this name, so that nothing may be reported under it. */
    boolean isNameTaken(RevisionId name);

    /** Whether a Knative Revision or Service has this name, so that its hosts are Knative's. */
    boolean isKnown(RevisionId name);

    void changed(Revision revision, PrivateEndpoints pods);

    /** Reports a revision and its pods even if they have not changed, as in a resync. */
    void again(Revision revision, PrivateEndpoints pods);

    /** Reports the activators that share the pods of a revision, by their addresses. */
    void shared(RevisionId revision, List<String> activators);

    void gone(RevisionId revision);
  }
}
