package dev.activator.cluster.decode;

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
}
