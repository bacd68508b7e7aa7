package dev.activator.discovery.decode;

import dev.activator.discovery.policy.ContainerProbe;
import dev.activator.discovery.policy.ContainerProbe.Action;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.revision.ReadinessProbeSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The containers of a Revision's pod template, with the fields on which readiness depends. */
public record PodTemplateContainers(List<Container> all) {
  /** Names the path to probe. Then its answer decides, whatever the readinessProbe is. */
  static final String READINESS_PATH = "activator.dev/readiness-path";
  private static final String PROBE = "activator.dev/probe";

  /**
   * @param port the first port; null if there is none
   * @param probe the readinessProbe; null if there is none
   * @param startsSlowly whether there is a startupProbe
   */
  private record Container(@Nullable Port port, @Nullable ContainerProbe probe,
      boolean startsSlowly) {
    boolean probesBy(Action action) {
      return probe != null && probe.action() == action;
    }
  }

  /** @param number the port that Knative gives containers without one, if it is not set */
  private record Port(String name, int number) {
    static final Port DEFAULT = new Port("", 8080);

    /** Whether a probe is of this port. Knative leaves the probe's port out, or sets it to 0. */
    boolean isNamed(String port) {
      return port.isEmpty() || port.equals("0") || port.equals(name)
          || port.equals(Integer.toString(number));
    }
  }

  static PodTemplateContainers read(JsonCursor in) {
    var all = new ArrayList<Container>(1);
    for (var _ : in.items()) {
      all.add(container(in));
    }
    return new PodTemplateContainers(all);
  }

  private static Container container(JsonCursor in) {
    Port port = null;
    ContainerProbe probe = null;
    boolean startsSlowly = false;
    for (var field : in.fields()) {
      switch (field) {
        case "ports" -> port = firstPort(in);
        case "startupProbe" -> startsSlowly = in.isPresent();
        case "readinessProbe" -> probe = ContainerProbeReader.read(in);
      }
    }
    return new Container(port, probe, startsSlowly);
  }

  private static @Nullable Port firstPort(JsonCursor in) {
    Port first = null;
    for (var _ : in.items()) {
      var name = "";
      int number = Port.DEFAULT.number;
      for (var field : in.fields()) {
        switch (field) {
          case "name" -> name = in.text();
          case "containerPort" -> number = in.count(number);
        }
      }
      first = first == null ? new Port(name, number) : first;
    }
    return first;
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
    return serving == null || serving.port == null ? "" : serving.port.name;
  }

  /**
   * Whether our probe may find a pod ready before Kubernetes does. False if the pod has an exec or
   * startup probe, whose result our probe does not show.
   */
  boolean probesBeforeReady() {
    var serving = serving();
    boolean serves = serving == null || (!serving.probesBy(Action.EXEC) && !serving.startsSlowly);
    return serves && all.stream().noneMatch(
        one -> one != serving && one.port == null && one.startsSlowly);
  }

  /**
   * Whether Kubernetes alone knows when a pod without queue-proxy is ready: our probe cannot be the
   * serving container's, or another container has a probe.
   */
  boolean onlyKubernetesKnows() {
    var serving = serving();
    if (all.stream().anyMatch(one -> one != serving && one.probe != null)) {
      return true;
    }
    var probe = serving == null ? null : serving.probe;
    var port = serving == null || serving.port == null ? Port.DEFAULT : serving.port;
    return probe != null && !(probe.isShownBy(Action.HTTP) && port.isNamed(probe.target().port()));
  }

  /**
   * The probe of pods without queue-proxy, by the Revision's annotations; null if they have a
   * queue-proxy.
   */
  @Nullable ReadinessProbeSpec readinessProbe(Map<String, String> annotations, JsonCursor in) {
    var path = annotations.get(READINESS_PATH);
    var serving = serving();
    var own = serving == null ? null : serving.probe;
    if (path != null && ReadinessProbeSpec.isPath(path)) {
      var named = new ReadinessProbeSpec(path, Map.of());
      return own == null ? named : named.within(own.timing().timeout());
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
    return own == null ? ReadinessProbeSpec.CONNECT : own.spec(Action.HTTP, in.remarks());
  }
}
