package dev.activator.ext.console;

import dev.activator.platform.Platform.ScalingDefaults;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.platform.RevisionDetailsSource.Setting;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The scaling settings of Revisions without annotations for them.
 *
 * <p><b>Source.</b> {@code pkg/autoscaler/config/config.go} and {@code resources/target.go} of
 * Knative Serving. Values are not checked, because Knative's own components refuse invalid ones.
 *
 * @param values by their names in the ConfigMap; unknown ones are not shown
 * @param maxPods the maximum for a revision whose annotation is 0 or cannot be read; null if unlimited
 */
public record KnativeAutoscalerDefaults(Map<String, Setting> values, @Nullable Integer maxPods) {
  public static final String CONFIG_MAP = "config-autoscaler";
  private static final String AUTOSCALING = "autoscaling.knative.dev/";
  /**
   * A cache of the camel-case names by the usual names, because the console needs them for each
   * revision each second.
   */
  private static final Map<String, String> CAMEL_CASE = new ConcurrentHashMap<>();
  private static final Pattern DASH = Pattern.compile("-(\\w)");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}(\\.\\d{1,9})?");
  private static final Pattern SOME_PODS = Pattern.compile("[1-9]\\d{0,8}");
  private static final String CLASS = "class";
  private static final String MAX_SCALE = "max-scale";
  private static final String METRIC = "metric";
  private static final String TARGET = "target";
  private static final String WINDOW = "stable-window";
  private static final String LIMIT = "container concurrency";
  private static final String BY_DEFAULT = "Knative's default";
  private static final Setting CONCURRENCY = new Setting(METRIC, "concurrency", BY_DEFAULT);
  /** The target utilization of requests per second. */
  private static final Setting UTILIZATION = new Setting("", "70", BY_DEFAULT);
  /** Settings that other autoscalers also read. */
  private static final List<String> OF_ALL = List.of("min-scale", MAX_SCALE, "initial-scale");
  /** The names in the ConfigMap by annotation, in the order of the page. */
  private static final SequencedMap<String, String> OF_KNATIVES = new LinkedHashMap<>();
  private static final List<String> OF_EMBEDDED_MODE = List.of("min-scale",
      "container-concurrency-target-default", "requests-per-second-target-default",
      "container-concurrency-target-percentage", "scale-down-delay",
      "scale-to-zero-pod-retention-period");
  /** Settings that have no annotation. */
  private static final List<String> OF_THE_CLUSTER = List.of("enable-scale-to-zero",
      "scale-to-zero-grace-period");
  private static final Map<String, String> KNATIVES = Map.ofEntries(
      Map.entry("pod-autoscaler-class", "kpa.autoscaling.knative.dev"),
      Map.entry("min-scale", "0"), Map.entry(MAX_SCALE, "any number"),
      Map.entry("initial-scale", "1"),
      Map.entry("container-concurrency-target-default", "100"),
      Map.entry("requests-per-second-target-default", "200"),
      Map.entry("container-concurrency-target-percentage", "70"),
      Map.entry(WINDOW, "60s"), Map.entry("scale-down-delay", "0s"),
      Map.entry("scale-to-zero-pod-retention-period", "0s"),
      Map.entry("target-burst-capacity", "200"), Map.entry("enable-scale-to-zero", "true"),
      Map.entry("scale-to-zero-grace-period", "30s"));

  static {
    OF_KNATIVES.put("window", WINDOW);
    OF_KNATIVES.put("scale-down-delay", "scale-down-delay");
    OF_KNATIVES.put("scale-to-zero-pod-retention-period", "scale-to-zero-pod-retention-period");
    OF_KNATIVES.put("target-burst-capacity", "target-burst-capacity");
  }

  /**
   * Follows the ConfigMap, with the watch that already exists for other ConfigMaps. Call before the
   * start.
   */
  public static Supplier<KnativeAutoscalerDefaults> following(ClusterWatcher cluster,
      String namespace) {
    var last = new AtomicReference<>(ofKnative(null));
    cluster.onOptionalConfigMap(namespace, CONFIG_MAP, data -> last.set(ofKnative(data)));
    return last::get;
  }

  /** @param content the content of the ConfigMap; null if there is none */
  public static KnativeAutoscalerDefaults ofKnative(@Nullable Map<String, String> content) {
    var otherwise = content == null
        ? BY_DEFAULT + "; there is no ConfigMap " + CONFIG_MAP
        : BY_DEFAULT;
    var values = new LinkedHashMap<String, Setting>();
    KNATIVES.forEach((name, value) -> {
      var set = content == null ? null : content.get(name);
      values.put(name, set == null
          ? new Setting(name, value, otherwise)
          : new Setting(name, name.equals(MAX_SCALE) && set.equals("0") ? value : set,
              "ConfigMap " + CONFIG_MAP));
    });
    return new KnativeAutoscalerDefaults(values, null);
  }

  /** The defaults of the autoscaler in this process. */
  static KnativeAutoscalerDefaults of(ScalingDefaults own) {
    var values = new LinkedHashMap<String, Setting>();
    OF_EMBEDDED_MODE.forEach(name -> values.put(name,
        new Setting(name, KNATIVES.getOrDefault(name, ""), BY_DEFAULT)));
    values.put(MAX_SCALE,
        new Setting(MAX_SCALE, "" + own.maxPods(), "activator.embedded.max-pods"));
    values.put(WINDOW,
        new Setting(WINDOW, own.window().toSeconds() + "s", "activator.embedded.stable-window"));
    return new KnativeAutoscalerDefaults(values, own.maxPods());
  }

  /** The maximum number of pods; null if unlimited. */
  public @Nullable Integer maxPods(Map<String, String> annotations) {
    var max = of(annotations, MAX_SCALE, MAX_SCALE);
    return max != null && SOME_PODS.matcher(max.value()).matches()
        ? Integer.valueOf(max.value())
        : maxPods;
  }

  /** @param containerConcurrency 0 if unlimited */
  public List<Setting> rows(Map<String, String> annotations, int containerConcurrency) {
    var rows = new ArrayList<Setting>();
    add(rows, of(annotations, CLASS, "pod-autoscaler-class"));
    boolean ofKnative = rows.isEmpty() || rows.getFirst().value().startsWith("kpa.");
    OF_ALL.forEach(name -> add(rows, of(annotations, name, values.get(name))));
    var metric = of(annotations, METRIC, ofKnative ? CONCURRENCY : null);
    add(rows, metric);
    boolean byConcurrency = CONCURRENCY.value().equals(metric == null ? "" : metric.value());
    int limit = byConcurrency ? containerConcurrency : 0;
    add(rows, limited(of(annotations, TARGET, ofKnative ? target(metric, limit) : null), limit));
    add(rows, of(annotations, "target-utilization-percentage", ofKnative
        ? byConcurrency ? values.get("container-concurrency-target-percentage") : UTILIZATION
        : null));
    OF_KNATIVES.forEach((name, key) -> add(rows,
        of(annotations, name, ofKnative ? values.get(key) : null)));
    if (ofKnative) {
      OF_THE_CLUSTER.forEach(name -> add(rows, values.get(name)));
    }
    return rows;
  }

  private static void add(List<Setting> rows, @Nullable Setting row) {
    if (row != null) {
      rows.add(row);
    }
  }

  private @Nullable Setting target(@Nullable Setting metric, int limit) {
    if (limit > 0) {
      return new Setting(TARGET, "" + limit, LIMIT);
    }
    return values.get(metric != null && metric.value().equals("rps")
        ? "requests-per-second-target-default"
        : "container-concurrency-target-default");
  }

  /** The target, limited by the container concurrency. */
  private static @Nullable Setting limited(@Nullable Setting target, int limit) {
    return target != null && limit > 0 && NUMBER.matcher(target.value()).matches()
        && Double.parseDouble(target.value()) > limit
            ? new Setting(TARGET, "" + limit,
                LIMIT + "; less than " + target.value() + ", by " + target.origin())
            : target;
  }

  private @Nullable Setting of(Map<String, String> annotations, String name, String key) {
    return of(annotations, name, values.get(key));
  }

  private static @Nullable Setting of(Map<String, String> annotations, String name,
      @Nullable Setting otherwise) {
    var written = spelling(annotations, name);
    var own = annotations.get(written);
    return own == null
        ? otherwise == null ? null : new Setting(name, otherwise.value(), otherwise.origin())
        : new Setting(name, own, "the annotation " + written);
  }

  /**
   * The spelling of an annotation in this object, because Knative reads {@code minScale} like
   * {@code min-scale}.
   */
  private static String spelling(Map<String, String> annotations, String name) {
    if (annotations.containsKey(AUTOSCALING + name)) {
      return AUTOSCALING + name;
    }
    var camelCase = CAMEL_CASE.computeIfAbsent(name, word -> AUTOSCALING
        + DASH.matcher(word).replaceAll(dash -> dash.group(1).toUpperCase(Locale.ROOT)));
    return annotations.containsKey(camelCase) ? camelCase : AUTOSCALING + name;
  }
}
