package dev.activator.embedded.api.schema;

import dev.activator.config.Spelling;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The annotations of a template that have an effect here, in the groups whose names are known. */
final class AnnotationEffects {
  static final String AUTOSCALING = "autoscaling.knative.dev/";
  private static final String OURS = "activator.dev/";
  private static final String KNATIVE = ".knative.dev/";

  private static final Set<String> SCALING = named(AUTOSCALING, "activation-scale",
      "initial-scale", "max-scale", "metric", "metric-aggregation-algorithm", "min-scale",
      "panic-threshold-percentage", "panic-window-percentage", "scale-down-delay",
      "scale-to-zero-pod-retention-period", "target", "target-utilization-percentage", "window");
  private static final Set<String> REQUESTS = named(OURS, "balancing", "probe", "queue-capacity",
      "queue-timeout", "readiness-path", "server-timing", "slow-start", "waiting-page");
  /** Knative's own notes, which exported manifests have. */
  private static final Set<String> NOTES = Set.of("serving.knative.dev/creator",
      "serving.knative.dev/lastModifier", "client.knative.dev/updateTimestamp",
      "client.knative.dev/user-image");

  private AnnotationEffects() {}

  /** Those that work on a template. */
  static Set<String> names() {
    var all = new TreeSet<>(SCALING);
    all.addAll(REQUESTS);
    return all;
  }

  /** Empty if the annotation works, or means nothing to Knative either. */
  static Optional<String> warning(String name, String value) {
    boolean works = REQUESTS.contains(name) || SCALING.contains(dashed(name))
        || NOTES.contains(name)
        || name.equals(AUTOSCALING + "class") && value.equals("kpa.autoscaling.knative.dev");
    boolean known = name.startsWith(OURS) || name.contains(KNATIVE);
    if (works || !known) {
      return Optional.empty();
    }
    var nearest = Spelling.nearest(dashed(name), names());
    return Optional.of("ignored in embedded mode: no annotation of this name has an effect"
        + (nearest == null ? "" : "; the nearest is \"" + nearest + '"'));
  }

  /** Knative also reads the older names, such as {@code minScale}. */
  private static String dashed(String name) {
    int slash = name.indexOf('/');
    return name.substring(0, slash + 1) + name.substring(slash + 1)
        .replaceAll("(?<=[a-z])([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT);
  }

  private static Set<String> named(String group, String... names) {
    return Set.of(names).stream().map(group::concat).collect(Collectors.toUnmodifiableSet());
  }
}
