package dev.activator.cluster.decode;

import dev.activator.revision.ReadinessProbe;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The containers of a revision's pods.
 *
 * @param serving the one that takes requests: the only one, or the first with a port; null if none
 *     has one
 * @param sidecars of several, those without a port
 */
record Containers(@Nullable Field serving, List<Field> sidecars) {
  private static final String READINESS_PATH = "activator.dev/readiness-path";
  private static final String PROBE = "activator.dev/probe";

  static Containers of(Field list) {
    var all = list.items();
    if (all.size() == 1) {
      return new Containers(all.getFirst(), List.of());
    }
    var serving = all.stream().filter(Containers::hasPort).findFirst().orElse(null);
    return new Containers(serving, all.stream().filter(one -> !hasPort(one)).toList());
  }

  boolean isNone() {
    return serving == null && sidecars.isEmpty();
  }

  private static boolean hasPort(Field container) {
    return !container.at("ports").items().isEmpty();
  }

  /** The name of the serving container's first port; null without one. */
  @Nullable String firstPortName() {
    var ports = serving == null ? List.<Field>of() : serving.at("ports").items();
    return ports.isEmpty() ? null : ports.getFirst().at("name").textOrEmpty();
  }

  /**
   * Whether an answer to our probe is as good as Kubernetes calling the pod ready. It is not where
   * a command decides, or where a container may take long to start: our probe sees neither.
   */
  boolean probesBeforeReady() {
    boolean serves = serving == null || (serving.at("readinessProbe").at("exec").isAbsent()
        && serving.at("startupProbe").isAbsent());
    return serves && sidecars.stream().allMatch(one -> one.at("startupProbe").isAbsent());
  }

  /**
   * How a pod without queue-proxy is probed, as annotations of the Revision say: at a path they
   * name, or as the serving container's own readinessProbe says; null where there is a queue-proxy.
   */
  @Nullable ReadinessProbe readinessProbe(Map<String, String> annotations, List<String> remarks) {
    var path = annotations.get(READINESS_PATH);
    if (path != null && ReadinessProbe.isPath(path)) {
      return new ReadinessProbe(path, Map.of());
    }
    if (path != null) {
      remarks.add("the annotation " + READINESS_PATH + " is '" + path + "', which is not a path");
    }
    var probe = annotations.get(PROBE);
    if (probe == null) {
      return null;
    }
    if (!probe.equals("container")) {
      remarks.add("the annotation " + PROBE + " is '" + probe + "', which is not 'container'");
      return null;
    }
    return serving == null
        ? ReadinessProbe.CONNECT
        : readinessProbe(serving.at("readinessProbe").at("httpGet"), remarks);
  }

  private static ReadinessProbe readinessProbe(Field httpGet, List<String> remarks) {
    if (httpGet.isAbsent()) {
      return ReadinessProbe.CONNECT;
    }
    var headers = new LinkedHashMap<String, String>();
    for (var header : httpGet.at("httpHeaders").items()) {
      headers.put(header.at("name").textOrEmpty(), header.at("value").textOrEmpty());
    }
    return ReadinessProbe.httpGet(httpGet.at("path").textOrEmpty(), headers, remarks);
  }
}
