package dev.activator.config;

import dev.activator.revision.ReadinessProbeSpec;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Checks the names and values of the annotations {@code activator.dev/…} of a Revision or a
 * ScaledService.
 */
public final class RevisionAnnotations {
  public static final String GROUP = "activator.dev/";
  /** The beginning of those that only the platform sets, from {@code spec.ports}. */
  public static final String TCP = GROUP + "tcp-";
  /**
   * The port of the activators that leads to a revision of {@code PortProtocol.TCP}.
   */
  public static final String TCP_PORT = TCP + "port";
  /** The version of the PROXY header that its pods get before the first byte, {@code v1} or {@code v2}. */
  public static final String TCP_PROXY_PROTOCOL = TCP + "proxy-protocol";
  /** The server names, with commas, by which TLS connections come to it. */
  public static final String TCP_SNI = TCP + "sni";
  /**
   * That nothing may be sent to the pods from now on, which only the platform sets: a
   * {@code FallingAsleep}.
   */
  public static final String FALLING_ASLEEP = GROUP + "falling-asleep";
  /** Why no request is sent to pods that exist, as a sentence, which only the platform sets. */
  public static final String PODS_HIDDEN = GROUP + "pods-hidden";
  private static final String AUTOSCALING = "autoscaling.knative.dev/";
  private static final String NO_EFFECT = "no annotation of this name has an effect";
  /**
   * Annotations of Revisions only. The pods of a ScaledService are probed as its workload defines.
   */
  private static final Set<String> OF_REVISIONS = Set.of(GROUP + "probe",
      GROUP + "readiness-path");
  /** The extensions whose annotations begin with their names, as does the field of a ScaledService. */
  private static final Set<String> EXTENSIONS = Set.of("affinity");
  private static final Set<String> BALANCERS = Set.of("choice-of-two", "first-available",
      "round-robin");
  /**
   * The allowed values of each annotation. Those that {@link ColdStartRulesReader} reads are not
   * checked here, because it reports problems in more detail.
   */
  private static final Map<String, Row> ROWS = rows();

  /**
   * The allowed values of an annotation.
   *
   * @param name without the group in a row of an extension
   * @param expected the values in words
   */
  public record Row(String name, Predicate<String> accepts, String expected) {}

  /** The annotations that an extension alone reads. {@code META-INF/services} lists the extensions. */
  public interface OfExtension {
    List<Row> rows();
  }

  private RevisionAnnotations() {}

  private static Map<String, Row> rows() {
    var rows = new TreeMap<String, Row>();
    row(rows, "queue-capacity", RevisionAnnotations::isCount, "a whole number of at least 1");
    row(rows, "queue-timeout", RevisionAnnotations::isLength,
        "a positive duration, such as 20s or 1m30s");
    row(rows, "start-timeout", RevisionAnnotations::isLength,
        "a positive duration, such as 2m or 90s");
    row(rows, "request-duration", RevisionAnnotations::isLength,
        "a positive duration, such as 300ms or 5s");
    row(rows, "balancing", BALANCERS::contains, "choice-of-two, first-available or round-robin");
    row(rows, "slow-start", text -> text.equals("off") || isCount(text),
        "a whole number of at least 1, or off");
    row(rows, "probe", "container"::equals, "container");
    row(rows, "readiness-path", ReadinessProbeSpec::isPath, "a path, such as /ready");
    row(rows, "waiting-page", Set.of("auto", "off")::contains, "auto or off");
    for (var rule : Set.of(ColdStartRulesReader.DO_NOT_WAKE, ColdStartRulesReader.FALLBACK,
        ColdStartRulesReader.IDLE_CONNECTIONS)) {
      rows.put(rule, new Row(rule, _ -> true, ""));
    }
    ServiceLoader.load(OfExtension.class, RevisionAnnotations.class.getClassLoader())
        .forEach(extension -> extension.rows().forEach(row -> rows.put(GROUP + row.name, row)));
    return Map.copyOf(rows);
  }

  private static void row(Map<String, Row> rows, String name, Predicate<String> accepts,
      String expected) {
    rows.put(GROUP + name, new Row(name, accepts, expected));
  }

  /** Whether a field of a ScaledService is that of an extension. */
  public static boolean isOfExtension(String field) {
    return EXTENSIONS.contains(field);
  }

  public static Set<String> names() {
    return ROWS.keySet();
  }

  /**
   * The annotations by which a field of a ScaledService reaches the extension of its name, as those
   * of a Revision do. The names of its parts get hyphens: {@code onPodGone} of {@code affinity} is
   * {@code activator.dev/affinity-on-pod-gone}.
   */
  public static Map<String, String> ofField(String field, Map<String, String> parts) {
    return parts.entrySet().stream().collect(Collectors.toMap(
        part -> GROUP + field + "-" + hyphenated(part.getKey()), Map.Entry::getValue));
  }

  /** The form with hyphens of a name in camel case: {@code min-scale} for {@code minScale}. */
  public static String hyphenated(String name) {
    return name.replaceAll("(?<=[a-z])([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  /** The extension that alone reads an annotation; null if it has an effect without one. */
  public static @Nullable String extension(String name) {
    return EXTENSIONS.stream().filter(one -> name.startsWith(GROUP + one + "-")).findFirst()
        .orElse(null);
  }

  /**
   * The problem of a Revision's annotation, without its name; empty if there is none, or if the
   * annotation is of another group.
   */
  public static Optional<String> problem(String name, String value) {
    if (!name.startsWith(GROUP)) {
      return Optional.empty();
    }
    var row = ROWS.get(name);
    if (row == null) {
      return Optional.of(unknown(name));
    }
    return row.accepts.test(value.strip())
        ? Optional.empty()
        : Optional.of("'" + value.strip() + "' is ignored: it must be " + row.expected);
  }

  /** The problem of a ScaledService's annotation, like {@link #problem}. */
  public static Optional<String> problemOfScaledService(String name, String value) {
    if (name.startsWith(AUTOSCALING)) {
      return Optional.of("has no effect on a ScaledService, whose spec says how it is scaled");
    }
    return OF_REVISIONS.contains(name)
        ? Optional.of("has no effect on a ScaledService: its pods are probed by their"
            + " readinessProbe")
        : problem(name, value);
  }

  private static String unknown(String name) {
    var nearest = SpellingSuggester.nearest(name, names());
    return NO_EFFECT + (nearest == null ? "" : "; the nearest is \"" + nearest + '"');
  }

  private static boolean isCount(String text) {
    try {
      return Integer.parseInt(text) >= 1;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static boolean isLength(String text) {
    try {
      return GoDuration.parse(text).isPositive();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
