package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.runtime.policy.PodView;
import java.util.Collection;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

final class PodObjects {
  static final String LOOPBACK = "127.0.0.1";

  private PodObjects() {}

  /** One subset for each pod: all share an address and differ in the port. */
  static ArrayNode subsets(LocalRevision revision, Collection<LocalPod> pods) {
    var subsets = Json.MAPPER.createArrayNode();
    for (var pod : pods) {
      var view = pod.view();
      if (view.listed()) {
        var subset = subsets.addObject();
        subset.putArray(view.ready() ? "addresses" : "notReadyAddresses").addObject()
            .put("ip", LOOPBACK).putObject("targetRef").put("kind", "Pod").put("name", pod.name())
            .put("namespace", revision.id().namespace());
        subset.putArray("ports").addObject().put("name", revision.protocol().portName())
            .put("port", pod.port()).put("protocol", "TCP");
      }
    }
    return subsets;
  }

  static ObjectNode pod(LocalRevision revision, String name, Map<String, String> labels) {
    var pod = StoreWriter.named(Kinds.POD, revision.id().namespace(), name);
    labels.forEach(Meta.of(pod).putObject("labels")::put);
    var spec = pod.putObject("spec").put("nodeName", "localhost");
    var container = spec.putArray("containers").addObject().put("name", "user-container")
        .put("image", revision.container().image());
    revision.container().command().forEach(container.putArray("command")::add);
    return pod;
  }

  static ObjectNode withStatus(ObjectNode pod, PodView view, String failure) {
    var status = pod.putObject("status").put("phase", "Running").put("podIP", LOOPBACK).put(
        "hostIP", LOOPBACK);
    String ready = view.ready() ? "True" : "False";
    status.putArray("conditions").addObject().put("type", "Ready").put("status", ready);
    var container = status.putArray("containerStatuses").addObject().put("name", "user-container")
        .put("ready", view.ready()).put("restartCount", view.restarts()).put("image", "")
        .put("imageID", "");
    var state = container.putObject("state");
    if (failure.isEmpty()) {
      state.putObject("running");
    } else {
      state.putObject("waiting").put("reason", "CrashLoopBackOff").put("message", failure);
    }
    return pod;
  }

  static ObjectNode withReplicas(ObjectNode deployment, Collection<PodView> pods) {
    long all = pods.stream().filter(PodView::wanted).count();
    long ready = pods.stream().filter(PodView::ready).count();
    var status = deployment.putObject("status");
    status.put("observedGeneration", deployment.path("metadata").path("generation").longValue(1));
    status.put("replicas", all).put("updatedReplicas", all).put("readyReplicas", ready)
        .put("availableReplicas", ready).put("unavailableReplicas", all - ready);
    return deployment;
  }
}
