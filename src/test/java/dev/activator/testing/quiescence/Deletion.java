package dev.activator.testing.quiescence;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.console.WaitReasons;
import dev.activator.observability.ColdStarts;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.Throttler;
import java.util.List;
import java.util.Map;

/** Deletes the revisions of a stage, as Kubernetes would, to see what the stage keeps of them. */
final class Deletion {
  private Deletion() {}

  static boolean applies(Object stage) {
    return stage instanceof Throttler || stage instanceof RevisionBackendsManager
        || stage instanceof ColdStarts || stage instanceof Autoscaler
        || stage instanceof WaitReasons;
  }

  static void deleteRevisions(Object stage) {
    switch (stage) {
      case Throttler throttler -> {
        throttler.revisions().forEach(throttler::revisionGone);
        ids(throttler, "pendingAddresses").forEach(throttler::revisionGone);
      }
      case RevisionBackendsManager backends -> ids(backends, "revisions").forEach(id -> {
        backends.podsGone(id);
        backends.clusterIp(new ClusterIp(id, null, null));
        backends.revisionGone(id);
      });
      case ColdStarts starts -> ids(starts, "revisions").forEach(starts::gone);
      case WaitReasons reasons -> ids(reasons, "last").forEach(reasons::gone);
      case Autoscaler autoscaler -> ids(autoscaler, "targets").forEach(autoscaler::targetGone);
      default -> throw new IllegalArgumentException(stage.getClass().getName());
    }
  }

  private static List<RevisionId> ids(Object stage, String map) {
    try {
      var field = stage.getClass().getDeclaredField(map);
      field.setAccessible(true);
      return ((Map<?, ?>) field.get(stage)).keySet().stream().map(RevisionId.class::cast)
          .toList();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
