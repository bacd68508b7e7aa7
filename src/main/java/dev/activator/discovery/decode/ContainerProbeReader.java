package dev.activator.discovery.decode;

import dev.activator.discovery.policy.ContainerProbe;
import dev.activator.discovery.policy.ContainerProbe.Action;
import dev.activator.discovery.policy.ContainerProbe.Target;
import dev.activator.discovery.policy.ContainerProbe.Timing;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.revision.ReadinessProbeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a container's readinessProbe. */
public final class ContainerProbeReader {
  private ContainerProbeReader() {}

  /** The probe; null if it has no action, which Kubernetes refuses. */
  public static @Nullable ContainerProbe read(JsonCursor in) {
    Action action = null;
    var target = Target.NONE;
    var initialDelay = Duration.ZERO;
    var timeout = ReadinessProbeSpec.DEFAULT_TIMEOUT;
    int successThreshold = 1;
    for (var field : in.fields()) {
      if (in.isPresent()) {
        switch (field) {
          case "httpGet" -> {
            var get = httpGet(in);
            action = get.action;
            target = get.target;
          }
          case "tcpSocket" -> {
            action = Action.TCP;
            target = httpGet(in).target;
          }
          case "grpc" -> {
            action = Action.GRPC;
            target = httpGet(in).target;
          }
          case "exec" -> action = Action.EXEC;
          case "initialDelaySeconds" -> initialDelay = Duration.ofSeconds(in.count(0));
          // Kubernetes takes 0 for its default.
          case "timeoutSeconds" -> timeout = Duration.ofSeconds(Math.max(1, in.count(1)));
          case "successThreshold" -> successThreshold = in.count(1);
        }
      }
    }
    return action == null
        ? null
        : new ContainerProbe(action, target, new Timing(initialDelay, timeout, successThreshold));
  }

  private record Addressed(Action action, Target target) {}

  /** The address of a probe. Those of other actions have a part of the same fields. */
  private static Addressed httpGet(JsonCursor in) {
    var host = "";
    var path = "";
    var port = "";
    var scheme = "";
    var headers = new LinkedHashMap<String, List<String>>();
    for (var field : in.fields()) {
      switch (field) {
        case "host" -> host = in.text();
        case "path" -> path = in.text();
        case "port" -> port = in.anyText();
        case "scheme" -> scheme = in.text();
        case "httpHeaders" -> {
          for (var _ : in.items()) {
            header(in, headers);
          }
        }
      }
    }
    return new Addressed(scheme.equals("HTTPS") ? Action.HTTPS : Action.HTTP,
        new Target(host, port, path, headers));
  }

  private static void header(JsonCursor in, Map<String, List<String>> headers) {
    var name = "";
    var value = "";
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> name = in.text();
        case "value" -> value = in.text();
      }
    }
    headers.computeIfAbsent(name, _ -> new ArrayList<>(1)).add(value);
  }
}
