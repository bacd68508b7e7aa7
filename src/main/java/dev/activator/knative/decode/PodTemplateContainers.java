package dev.activator.knative.decode;

import dev.activator.kube.decode.JsonCursor;
import dev.activator.revision.ReadinessProbeSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The containers of a Revision's pod template, with the fields on which readiness depends. */
public record PodTemplateContainers(List<Container> all) {
  private static final String READINESS_PATH = "activator.dev/readiness-path";
  private static final String PROBE = "activator.dev/probe";

  /**
   * @param port the name of the first port; null if there is none
   * @param runsCommand whether the readinessProbe is of the type exec
   * @param probesByGrpc whether the readinessProbe is of the type gRPC
   * @param startsSlowly whether there is a startupProbe
   */
  private record Container(@Nullable String port, @Nullable HttpGet httpGet, boolean runsCommand,
      boolean probesByGrpc, boolean startsSlowly) {}

  private record HttpGet(String path, Map<String, String> headers) {}

  static PodTemplateContainers read(JsonCursor in) {
    var all = new ArrayList<Container>(1);
    for (var _ : in.items()) {
      all.add(container(in));
    }
    return new PodTemplateContainers(all);
  }

  private static Container container(JsonCursor in) {
    String port = null;
    HttpGet httpGet = null;
    boolean runsCommand = false;
    boolean probesByGrpc = false;
    boolean startsSlowly = false;
    for (var field : in.fields()) {
      switch (field) {
        case "ports" -> port = firstPort(in);
        case "startupProbe" -> startsSlowly = in.isPresent();
        case "readinessProbe" -> {
          for (var action : in.fields()) {
            switch (action) {
              case "exec" -> runsCommand = in.isPresent();
              case "grpc" -> probesByGrpc = in.isPresent();
              case "httpGet" -> httpGet = in.isPresent() ? httpGet(in) : null;
            }
          }
        }
      }
    }
    return new Container(port, httpGet, runsCommand, probesByGrpc, startsSlowly);
  }

  private static @Nullable String firstPort(JsonCursor in) {
    String first = null;
    for (var _ : in.items()) {
      var name = "";
      for (var field : in.fields()) {
        name = field.equals("name") ? in.text() : name;
      }
      first = first == null ? name : first;
    }
    return first;
  }

  private static HttpGet httpGet(JsonCursor in) {
    var path = "";
    var headers = new LinkedHashMap<String, String>();
    for (var field : in.fields()) {
      switch (field) {
        case "path" -> path = in.text();
        case "httpHeaders" -> {
          for (var _ : in.items()) {
            header(in, headers);
          }
        }
      }
    }
    return new HttpGet(path, headers);
  }

  public static void header(JsonCursor in, Map<String, String> headers) {
    var name = "";
    var value = "";
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> name = in.text();
        case "value" -> value = in.text();
      }
    }
    headers.put(name, value);
  }

  boolean isNone() {
    return all.isEmpty();
  }

  /** The container that serves requests: the only one, or the first with a port. */
  private @Nullable Container serving() {
    return all.size() == 1
        ? all.getFirst()
        : all.stream().filter(one -> one.port != null).findFirst().orElse(null);
  }

  String firstPortName() {
    var serving = serving();
    return serving == null || serving.port == null ? "" : serving.port;
  }

  /**
   * Whether our probe may find a pod ready before Kubernetes does. False if the pod has an exec or
   * startup probe, whose result our probe does not show.
   */
  boolean probesBeforeReady() {
    var serving = serving();
    boolean serves = serving == null || (!serving.runsCommand && !serving.startsSlowly);
    return serves && all.stream().noneMatch(
        one -> one != serving && one.port == null && one.startsSlowly);
  }

  /** Whether the readinessProbe uses gRPC. Without queue-proxy, only the kubelet can send that. */
  boolean probesByGrpc() {
    var serving = serving();
    return serving != null && serving.probesByGrpc;
  }

  /**
   * The probe of pods without queue-proxy, by the Revision's annotations; null if they have a
   * queue-proxy.
   */
  @Nullable ReadinessProbeSpec readinessProbe(Map<String, String> annotations, JsonCursor in) {
    var path = annotations.get(READINESS_PATH);
    if (path != null && ReadinessProbeSpec.isPath(path)) {
      return new ReadinessProbeSpec(path, Map.of());
    }
    if (path != null) {
      in.remark("the annotation " + READINESS_PATH + " is '" + path + "', which is not a path");
    }
    var probe = annotations.get(PROBE);
    if (probe == null) {
      return null;
    }
    if (!probe.equals("container")) {
      in.remark("the annotation " + PROBE + " is '" + probe + "', which is not 'container'");
      return null;
    }
    var serving = serving();
    return serving == null || serving.httpGet == null
        ? ReadinessProbeSpec.CONNECT
        : ReadinessProbeSpec.httpGet(serving.httpGet.path, serving.httpGet.headers, in.remarks());
  }
}
