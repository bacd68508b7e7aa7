package dev.activator.testing.quiescence;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.console.WaitReasonCache;
import dev.activator.observability.ColdStartRecorder;
import dev.activator.revision.PrivateClusterIp;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.throttle.Throttler;
import java.util.List;
import java.util.Map;

/** Deletes the revisions of a stage, as Kubernetes would, to see what the stage keeps of them. */
final class Deletion {
  private Deletion() {}

  static boolean applies(Object stage) {
    return stage instanceof Throttler || stage instanceof RevisionBackendsManager
        || stage instanceof ColdStartRecorder || stage instanceof Autoscaler
        || stage instanceof WaitReasonCache;
  }

  static void deleteRevisions(Object stage) {
    switch (stage) {
      case Throttler throttler -> {
        throttler.revisions().forEach(throttler::revisionGone);
        ids(throttler, "pendingAddresses").forEach(throttler::revisionGone);
      }
      case RevisionBackendsManager backends -> ids(backends, "revisions").forEach(id -> {
        backends.podsGone(id);
        backends.clusterIp(new PrivateClusterIp(id, null, null));
        backends.revisionGone(id);
      });
      case ColdStartRecorder starts -> ids(starts, "revisions").forEach(starts::gone);
      case WaitReasonCache reasons -> ids(reasons, "last").forEach(reasons::gone);
      case Autoscaler autoscaler -> ((Map<?, ?>) field(autoscaler, "targets"))
          .forEach((id, target) -> autoscaler.targetGone((RevisionId) id,
              (ScaleTargetRef) field(field(target, "configured"), "workload")));
      default -> throw new IllegalArgumentException(stage.getClass().getName());
    }
  }

  private static List<RevisionId> ids(Object stage, String map) {
    return ((Map<?, ?>) field(stage, map)).keySet().stream().map(RevisionId.class::cast).toList();
  }

  private static Object field(Object of, String name) {
    try {
      var field = of.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
