package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.embedded.runtime.policy.LocalPodState;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Makes the Pod objects of local pods. */
final class PodObjectBuilder {
  static final String LOOPBACK = "127.0.0.1";
  private static final String CONTAINER = "user-container";

  private PodObjectBuilder() {}

  /** A new Pod. Its container has the port and the variables of the process. */
  static ObjectNode pod(PodTemplate template, ObjectNode replicaSet, String name, int port) {
    var pod = ControllerWrites.named(BuiltInKinds.POD, template.namespace(), name);
    for (var field : new String[]{"labels", "annotations"}) {
      if (template.metadata().path(field) instanceof ObjectNode given) {
        ObjectMeta.of(pod).set(field, given.deepCopy());
      }
    }
    ControllerRefs.setController(pod, BuiltInKinds.REPLICA_SET, replicaSet);
    var spec = template.spec() instanceof ObjectNode given ? given.deepCopy() : Json.object();
    spec.put("nodeName", "localhost");
    pod.set("spec", spec);
    nameContainer(spec);
    if (spec.path("containers").path(0) instanceof ObjectNode container) {
      var ports = container.withArrayProperty("ports");
      (ports.path(0) instanceof ObjectNode first ? first : ports.addObject())
          .put("containerPort", port).put("protocol", "TCP");
      var env = container.withArrayProperty("env");
      template.ownVariables(port)
          .forEach((variable, value) -> env.addObject().put("name", variable).put("value", value));
    }
    var status = pod.putObject("status").put("phase", "Pending");
    for (var address : new String[]{"podIP", "hostIP"}) {
      status.put(address, LOOPBACK).putArray(address + "s").addObject().put("ip", LOOPBACK);
    }
    return pod;
  }

  /** Names the container, if it has no name. */
  static void nameContainer(ObjectNode spec) {
    if (spec.path("containers").path(0) instanceof ObjectNode container
        && container.path("name").asString("").isEmpty()) {
      container.put("name", CONTAINER);
    }
  }

  static ObjectNode withStatus(ObjectNode object, LocalPod pod, Instant now) {
    var view = pod.view();
    var current = pod.current();
    var status = object.withObjectProperty("status");
    status.put("phase", current == null && pod.last() == null ? "Pending" : "Running")
        .set("startTime", object.path("metadata").path("creationTimestamp"));
    var conditions = ConditionManager.of(object, now).setTrue("PodScheduled")
        .setTrue("PodReadyToStartContainers").setTrue("Initialized");
    for (var type : new String[]{"ContainersReady", "Ready"}) {
      if (view.ready()) {
        conditions.setTrue(type);
      } else {
        var failure = pod.failure();
        conditions.fail(type, "ContainersNotReady",
            failure == null ? pod.problem() : failure.message());
      }
    }
    var spec = object.path("spec").path("containers").path(0);
    var container = status.putArray("containerStatuses").addObject()
        .put("name", spec.path("name").asString(CONTAINER)).put("ready", view.ready())
        .put("started", current != null).put("restartCount", view.restarts())
        .put("image", spec.path("image").asString("")).put("imageID", "");
    var state = container.putObject("state");
    if (current != null) {
      state.putObject("running").put("startedAt", text(current.started()));
    } else if (pod.isRestarting() && pod.last() != null) {
      terminated(state.putObject("terminated"), pod.last());
    } else {
      waiting(state.putObject("waiting"), pod.failure());
    }
    var last = pod.last();
    if (last != null) {
      terminated(container.putObject("lastState").putObject("terminated"), last);
    }
    return object;
  }

  private static void waiting(ObjectNode waiting, @Nullable ExitReason failure) {
    if (failure == null) {
      waiting.put("reason", "ContainerCreating");
    } else {
      waiting.put("reason", failure.ran() ? "CrashLoopBackOff" : reason(failure)).put("message",
          failure.message());
    }
  }

  private static String reason(ExitReason failure) {
    return failure.reason().equals(ExitReason.CONFIG_ERROR)
        ? failure.reason()
        : "RunContainerError";
  }

  private static void terminated(ObjectNode terminated, LocalPod.Run run) {
    var exit = run.exit();
    int code = exit == null ? 0 : exit.code();
    terminated.put("exitCode", code).put("reason", code == 0 ? "Completed" : "Error")
        .put("message", exit == null ? "" : exit.statusMessage())
        .put("startedAt", text(run.started()));
    if (run.ended() != null) {
      terminated.put("finishedAt", text(run.ended()));
    }
  }

  private static String text(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  static ObjectNode withReplicas(ObjectNode replicaSet, Collection<LocalPodState.View> pods) {
    long all = pods.stream().filter(LocalPodState.View::wanted).count();
    long ready = pods.stream().filter(LocalPodState.View::ready).count();
    var status = replicaSet.withObjectProperty("status")
        .put("observedGeneration", replicaSet.at("/metadata/generation").longValue(1))
        .put("replicas", all);
    count(status, "fullyLabeledReplicas", all);
    count(status, "readyReplicas", ready);
    count(status, "availableReplicas", ready);
    return replicaSet;
  }

  /** Sets a count as a cluster does, which leaves out 0: clients that wait for 0 never see it. */
  static void count(ObjectNode status, String field, long number) {
    if (number == 0) {
      status.remove(field);
    } else {
      status.put(field, number);
    }
  }
}
