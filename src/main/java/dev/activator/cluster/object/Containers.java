package dev.activator.cluster.object;

import dev.activator.revision.ContainerProbe;
import java.util.HashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The containers of a revision's pods.
 *
 * @param serving the one that takes requests: the only one, or the first with a port; null if none
 *     has one
 * @param sidecars of several, those without a port
 */
record Containers(@Nullable Field serving, List<Field> sidecars) {
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
   * The readiness probe of the serving container, as far as it can be made from here: a {@code GET}
   * without TLS, or a connection.
   */
  ContainerProbe readinessProbe(List<String> remarks) {
    if (serving == null || serving.at("readinessProbe").at("httpGet").isAbsent()
        || serving.at("readinessProbe").at("httpGet").at("scheme").textOrEmpty().equals("HTTPS")) {
      return ContainerProbe.TCP;
    }
    var get = serving.at("readinessProbe").at("httpGet");
    var text = get.at("path").textOrEmpty();
    var path = text.startsWith("/") ? text : "/" + text;
    if (!ContainerProbe.isPath(path)) {
      remarks.add(get.at("path").path() + " is '" + text + "', which is not a path");
      return ContainerProbe.TCP;
    }
    var headers = new HashMap<String, String>();
    get.at("httpHeaders").items()
        .forEach(one -> headers.put(one.at("name").text(), one.at("value").textOrEmpty()));
    return new ContainerProbe(path, headers);
  }
}
