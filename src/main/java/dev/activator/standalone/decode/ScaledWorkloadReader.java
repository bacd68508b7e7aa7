package dev.activator.standalone.decode;

import dev.activator.knative.decode.PodTemplateContainers;
import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.StatusCondition;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.standalone.policy.ScaledWorkload;
import dev.activator.standalone.policy.ScaledWorkload.Action;
import dev.activator.standalone.policy.ScaledWorkload.Container;
import dev.activator.standalone.policy.ScaledWorkload.Probe;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the pod template of a workload, of any kind that has {@code spec.template}. */
final class ScaledWorkloadReader implements WatchedObjectReader<ScaledWorkload> {
  private final DecodedMetadata ofPods = new DecodedMetadata();
  private final List<Container> containers = new ArrayList<>(1);
  private String failure = "";

  @Override
  public void field(String name, JsonCursor in) {
    switch (name) {
      case "spec" -> {
        for (var field : in.fields()) {
          if (field.equals("template")) {
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
            if (one.equals("containers")) {
              for (var _ : in.items()) {
                containers.add(container(in));
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
          if (condition.type().equals("ReplicaFailure") && condition.status().equals("True")) {
            failure = condition.message().isEmpty() ? condition.reason() : condition.message();
          }
        }
      }
    }
  }

  private static Container container(JsonCursor in) {
    var ports = new HashMap<String, Integer>();
    Probe probe = null;
    boolean startsSlowly = false;
    for (var field : in.fields()) {
      switch (field) {
        case "ports" -> {
          for (var _ : in.items()) {
            port(in, ports);
          }
        }
        case "startupProbe" -> startsSlowly = in.isPresent();
        case "readinessProbe" -> probe = probe(in);
      }
    }
    return new Container(ports, probe, startsSlowly);
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

  private static @Nullable Probe probe(JsonCursor in) {
    Probe probe = null;
    for (var field : in.fields()) {
      if (in.isPresent()) {
        probe = switch (field) {
          case "httpGet" -> httpGet(in);
          case "tcpSocket" -> new Probe(Action.TCP, portOf(in), "", Map.of());
          case "grpc" -> new Probe(Action.GRPC, portOf(in), "", Map.of());
          case "exec" -> new Probe(Action.EXEC, "", "", Map.of());
          default -> probe;
        };
      }
    }
    return probe;
  }

  private static String portOf(JsonCursor in) {
    var port = "";
    for (var field : in.fields()) {
      port = field.equals("port") ? in.anyText() : port;
    }
    return port;
  }

  private static Probe httpGet(JsonCursor in) {
    var path = "";
    var port = "";
    var scheme = "";
    var headers = new LinkedHashMap<String, String>();
    for (var field : in.fields()) {
      switch (field) {
        case "path" -> path = in.text();
        case "port" -> port = in.anyText();
        case "scheme" -> scheme = in.text();
        case "httpHeaders" -> {
          for (var _ : in.items()) {
            PodTemplateContainers.header(in, headers);
          }
        }
      }
    }
    return new Probe(scheme.equals("HTTPS") ? Action.HTTPS : Action.HTTP, port, path, headers);
  }

  @Override
  public ScaledWorkload decoded(DecodedMetadata metadata, JsonCursor in) {
    return new ScaledWorkload(new RevisionId(metadata.namespace(), metadata.name()),
        ofPods.labels(),
        containers, failure);
  }
}
