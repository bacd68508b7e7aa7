package dev.activator.standalone.decode;

import dev.activator.discovery.decode.ContainerProbeReader;
import dev.activator.discovery.policy.ContainerProbe;
import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.StatusCondition;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.standalone.policy.ScaledWorkload;
import dev.activator.standalone.policy.ScaledWorkload.Container;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the pod template of a workload, of any kind that has {@code spec.template}; or the conditions
 * of an object of any kind.
 */
final class ScaledWorkloadReader implements WatchedObjectReader<ScaledWorkload> {
  private final DecodedMetadata ofPods = new DecodedMetadata();
  private final List<Container> containers = new ArrayList<>(1);
  private final Set<String> conditions = new HashSet<>(2);
  private final boolean readsConditions;
  private boolean isGated;
  private String failure = "";

  private ScaledWorkloadReader(boolean readsConditions) {
    this.readsConditions = readsConditions;
  }

  static ScaledWorkloadReader ofTemplates() {
    return new ScaledWorkloadReader(false);
  }

  static ScaledWorkloadReader ofConditions() {
    return new ScaledWorkloadReader(true);
  }

  @Override
  public void field(String name, JsonCursor in) {
    switch (name) {
      case "spec" -> {
        for (var field : in.fields()) {
          if (field.equals("template") && !readsConditions) {
            template(in);
          }
        }
      }
      case "status" -> status(in);
    }
  }

  private void template(JsonCursor in) {
    for (var field : in.fields()) {
      switch (field) {
        case "metadata" -> ofPods.read(in);
        case "spec" -> {
          for (var one : in.fields()) {
            switch (one) {
              case "containers" -> {
                for (var _ : in.items()) {
                  containers.add(container(in).container);
                }
              }
              case "initContainers" -> {
                for (var _ : in.items()) {
                  var init = container(in);
                  isGated |= init.keepsRunning && init.container.probe() != null;
                }
              }
              case "readinessGates" -> {
                for (var _ : in.items()) {
                  isGated = true;
                }
              }
            }
          }
        }
      }
    }
  }

  private void status(JsonCursor in) {
    for (var field : in.fields()) {
      if (field.equals("conditions")) {
        for (var _ : in.items()) {
          var condition = StatusCondition.read(in);
          if (!condition.status().equals("True")) {
            continue;
          }
          if (readsConditions) {
            conditions.add(condition.type());
          } else if (condition.type().equals("ReplicaFailure")) {
            failure = condition.message().isEmpty() ? condition.reason() : condition.message();
          }
        }
      }
    }
  }

  /** @param keepsRunning whether the container is restarted always, beside other containers */
  private record Read(Container container, boolean keepsRunning) {}

  private static Read container(JsonCursor in) {
    var ports = new HashMap<String, Integer>();
    ContainerProbe probe = null;
    boolean startsSlowly = false;
    boolean keepsRunning = false;
    for (var field : in.fields()) {
      switch (field) {
        case "ports" -> {
          for (var _ : in.items()) {
            port(in, ports);
          }
        }
        case "startupProbe" -> startsSlowly |= in.isPresent();
        case "lifecycle" -> {
          for (var hook : in.fields()) {
            startsSlowly |= hook.equals("postStart") && in.isPresent();
          }
        }
        case "restartPolicy" -> keepsRunning = in.text().equals("Always");
        case "readinessProbe" -> probe = ContainerProbeReader.read(in);
      }
    }
    return new Read(new Container(ports, probe, startsSlowly), keepsRunning);
  }

  private static void port(JsonCursor in, Map<String, Integer> ports) {
    var name = "";
    int number = 0;
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> name = in.text();
        case "containerPort" -> number = in.count(0);
      }
    }
    ports.put(name.isEmpty() ? Integer.toString(number) : name, number);
  }

  @Override
  public ScaledWorkload decoded(DecodedMetadata metadata, JsonCursor in) {
    return new ScaledWorkload(new RevisionId(metadata.namespace(), metadata.name()),
        ofPods.labels(),
        containers, isGated, failure, conditions);
  }
}
