package dev.activator.backend;

import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.Map;

/**
 * The objects of a cluster, reported to a manager as the product does: those that came before their
 * revision are reported again when it begins.
 */
final class ReportedObjects {
  private final LiveRevisions live;
  private final RevisionBackendsManager backends;
  private final Map<RevisionId, PrivateEndpoints> pods = new HashMap<>();
  private final Map<RevisionId, PrivateClusterIp> clusterIps = new HashMap<>();

  ReportedObjects(LiveRevisions live, RevisionBackendsManager backends) {
    this.live = live;
    this.backends = backends;
  }

  void revision(Revision now) {
    var before = live.find(now.id());
    var revision = live.update(now);
    backends.revision(revision);
    if (revision != before) {
      if (clusterIps.containsKey(now.id())) {
        backends.clusterIp(clusterIps.get(now.id()));
      }
      if (pods.containsKey(now.id())) {
        backends.listed(pods.get(now.id()));
      }
    }
  }

  void revisionGone(RevisionId id) {
    live.end(id);
  }

  void listed(PrivateEndpoints now) {
    pods.put(now.revision(), now);
    backends.listed(now);
  }

  void podsGone(RevisionId id) {
    pods.remove(id);
    backends.podsGone(id);
  }

  void clusterIp(PrivateClusterIp now) {
    clusterIps.put(now.revision(), now);
    backends.clusterIp(now);
  }
}
