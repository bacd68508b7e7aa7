package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Derives the Events about a change from two versions of an object. */
final class ChangeToEventMapper {
  private static final String NORMAL = "Normal";
  private static final String WARNING = "Warning";
  private static final String STARTED = "/state/running/startedAt";
  private static final String CRASHED = "CrashLoopBackOff";

  /** @param type {@code Normal} or {@code Warning} */
  record News(String type, String reason, String message) {}

  private ChangeToEventMapper() {}

  /**
   * @param before null for a new object
   * @param after null for a deleted object
   */
  static List<News> between(Kind kind, @Nullable JsonNode before, @Nullable JsonNode after) {
    var old = before == null ? MissingNode.getInstance() : before;
    if (kind.equals(BuiltInKinds.POD)) {
      return Stream.concat(after == null ? Stream.of() : pod(old, after).stream(),
          stops(old, after) ? Stream.of(stopping(old)) : Stream.of()).toList();
    }
    if (kind.equals(BuiltInKinds.REVISION)) {
      return after != null
          ? List.of()
          : List.of(new News(NORMAL, "RevisionDeleted",
              "Deleted Revision " + old.at("/metadata/name").asString("")));
    }
    if (after == null) {
      return List.of();
    }
    if (kind.equals(BuiltInKinds.DEPLOYMENT)) {
      return deployment(old, after);
    }
    return kind.equals(BuiltInKinds.REPLICA_SET) ? replicaSet(old, after) : service(old, after);
  }

  private static List<News> deployment(JsonNode before, JsonNode after) {
    var failure = ConditionManager.find(after, DeploymentController.REPLICA_FAILURE);
    return ConditionManager.isTrue(after, DeploymentController.REPLICA_FAILURE)
        && !ConditionManager.isTrue(before, DeploymentController.REPLICA_FAILURE)
            ? List.of(new News(WARNING, "FailedCreate", failure.path("message").asString("")))
            : List.of();
  }

  private static List<News> pod(JsonNode before, JsonNode after) {
    var news = new ArrayList<News>();
    if (before.isMissingNode()) {
      news.add(after.at("/spec/nodeName").isMissingNode()
          ? new News(WARNING, "FailedScheduling",
              "embedded mode runs no Pod that is created by hand;"
                  + " apply a Deployment, or a Service of serving.knative.dev/v1")
          : new News(NORMAL, "Scheduled", "Assigned to this machine"));
    }
    var old = before.at("/status/containerStatuses/0");
    var now = after.at("/status/containerStatuses/0");
    boolean again = now.path("restartCount").asInt(0) > old.path("restartCount").asInt(0);
    if (!now.at(STARTED).isMissingNode() && (old.at(STARTED).isMissingNode() || again)) {
      news.add(new News(NORMAL, "Started", "Started container " + now.path("name").asString("")));
    }
    var waiting = now.at("/state/waiting");
    String reason = waiting.path("reason").asString("");
    var lastEnd = now.at("/lastState/terminated");
    boolean crashed = (reason.isEmpty() || reason.equals(CRASHED))
        && now.at(STARTED).isMissingNode() && !lastEnd.isMissingNode()
        && (!old.at(STARTED).isMissingNode() || !lastEnd.equals(old.at("/lastState/terminated")));
    if (crashed) {
      String said = lastEnd.path("message").asString("");
      news.add(new News(WARNING, "Crashed", "Container " + now.path("name").asString("")
          + " ended with exit code " + lastEnd.path("exitCode").asInt(0)
          + (said.isEmpty() ? "" : ": " + said)));
      news.add(new News(WARNING, "BackOff", "Back-off restarting failed container "
          + now.path("name").asString("")));
    } else if (!reason.equals(old.at("/state/waiting/reason").asString(""))
        && waiting.has("message") && !reason.equals(CRASHED)) {
      news.add(new News(WARNING, "Failed", waiting.path("message").asString("")));
    }
    if (becameTrue(before, after)) {
      news.add(new News(NORMAL, "Ready", "Container " + now.path("name").asString("")
          + " is ready"));
    }
    String problem = ConditionManager.find(after, "Ready").path("message").asString("");
    if (!now.at(STARTED).isMissingNode() && !problem.isEmpty()
        && !problem.equals(ConditionManager.find(before, "Ready").path("message").asString(""))) {
      news.add(new News(WARNING, "Unhealthy", problem));
    }
    return news;
  }

  private static boolean stops(JsonNode before, @Nullable JsonNode after) {
    return !before.path("metadata").has("deletionTimestamp")
        && (after == null || after.path("metadata").has("deletionTimestamp"));
  }

  private static News stopping(JsonNode pod) {
    return new News(NORMAL, "Killing", "Stopping container "
        + pod.at("/status/containerStatuses/0/name").asString(""));
  }

  /** The Events about the Deployment of a ReplicaSet. */
  private static List<News> replicaSet(JsonNode before, JsonNode after) {
    int old = before.isMissingNode() ? 0 : before.at("/spec/replicas").asInt(1);
    int now = after.at("/spec/replicas").asInt(1);
    return old == now
        ? List.of()
        : List.of(new News(NORMAL, "ScalingReplicaSet",
            "Scaled " + (now > old ? "up" : "down") + " replica set "
                + after.at("/metadata/name").asString("") + " from " + old + " to " + now));
  }

  private static List<News> service(JsonNode before, JsonNode after) {
    String created = after.at("/status/latestCreatedRevisionName").asString("");
    var news = new ArrayList<News>();
    if (!created.isEmpty()
        && !created.equals(before.at("/status/latestCreatedRevisionName").asString(""))) {
      news.add(new News(NORMAL, "Created", "Created Revision " + created));
    }
    String ready = after.at("/status/latestReadyRevisionName").asString("");
    if (!ready.isEmpty()
        && !ready.equals(before.at("/status/latestReadyRevisionName").asString(""))) {
      news.add(new News(NORMAL, "RevisionReady", "Revision " + ready + " takes requests"));
    }
    var condition = ConditionManager.find(after, "Ready");
    boolean failed = condition.path("status").asString("").equals("False");
    if (failed && !condition.path("message").equals(
        ConditionManager.find(before, "Ready").path("message"))) {
      news.add(new News(WARNING, condition.path("reason").asString("Failed"),
          condition.path("message").asString("")));
    }
    return news;
  }

  private static boolean becameTrue(JsonNode before, JsonNode after) {
    return ConditionManager.isTrue(after, "Ready") && !ConditionManager.isTrue(before, "Ready");
  }
}
