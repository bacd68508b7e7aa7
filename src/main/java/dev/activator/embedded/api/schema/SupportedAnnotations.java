package dev.activator.embedded.api.schema;

import dev.activator.standalone.autoscaler.policy.ScalingAnnotations;
import dev.activator.config.RevisionAnnotations;
import dev.activator.config.SpellingSuggester;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Knows the annotations that have an effect in embedded mode, and warns about others of Knative's
 * groups.
 */
final class SupportedAnnotations {
  static final String AUTOSCALING = "autoscaling.knative.dev/";
  private static final String KNATIVE = ".knative.dev/";

  private static final Set<String> SCALING = named(AUTOSCALING, "activation-scale",
      "initial-scale", "max-scale", "metric", "metric-aggregation-algorithm", "min-scale",
      "panic-threshold-percentage", "panic-window-percentage", "scale-down-delay",
      "scale-to-zero-pod-retention-period", "target", "target-utilization-percentage", "window");
  /** Annotations that Knative adds itself, and that exported manifests contain. */
  private static final Set<String> NOTES = Set.of("serving.knative.dev/creator",
      "serving.knative.dev/lastModifier", "client.knative.dev/updateTimestamp",
      "client.knative.dev/user-image");

  /** Both spellings of Knative. */
  private static final Set<String> ROLLOUT = Set.of("serving.knative.dev/rollout-duration",
      "serving.knative.dev/rolloutDuration");
  private static final Set<String> AT_ONCE = Set.of("", "0s");
  private static final String NETWORKING = "networking.knative.dev/";

  private SupportedAnnotations() {}

  /** The annotations that have an effect on a template. */
  static Set<String> names() {
    var all = new TreeSet<>(SCALING);
    all.add(ScalingAnnotations.PROGRESS_DEADLINE);
    all.addAll(RevisionAnnotations.names());
    return all;
  }

  /** The warning about an annotation; empty if it has an effect, or has none in Knative either. */
  static Optional<String> warning(String name, String value) {
    if (name.startsWith(RevisionAnnotations.GROUP)) {
      return RevisionAnnotations.problem(name, value);
    }
    boolean works = SCALING.contains(dashed(name))
        || NOTES.contains(name) || name.equals(ScalingAnnotations.PROGRESS_DEADLINE)
        || name.equals(AUTOSCALING + "class") && value.equals("kpa.autoscaling.knative.dev");
    if (works || !name.contains(KNATIVE)) {
      return Optional.empty();
    }
    var nearest = SpellingSuggester.nearest(dashed(name), names());
    return Optional.of("ignored in embedded mode: no annotation of this name has an effect"
        + (nearest == null ? "" : "; the nearest is \"" + nearest + '"'));
  }

  /** The warning about an annotation or label of a Knative Service itself; empty if it needs none. */
  static Optional<String> warningOfService(String name, String value) {
    var reason = ROLLOUT.contains(name) && !AT_ONCE.contains(value)
        ? "a new revision gets its whole share of the requests at once; to raise it in steps,"
            + " change spec.traffic"
        : name.startsWith(NETWORKING) ? "there is no ingress here" : null;
    return Optional.ofNullable(reason).map("ignored in embedded mode: "::concat);
  }

  /** The newer form of a name. Knative also reads the older forms, such as {@code minScale}. */
  private static String dashed(String name) {
    int slash = name.indexOf('/');
    return name.substring(0, slash + 1)
        + RevisionAnnotations.hyphenated(name.substring(slash + 1));
  }

  private static Set<String> named(String group, String... names) {
    return Set.of(names).stream().map(group::concat).collect(Collectors.toUnmodifiableSet());
  }
}
