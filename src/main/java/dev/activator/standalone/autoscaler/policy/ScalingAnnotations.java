package dev.activator.standalone.autoscaler.policy;

import dev.activator.standalone.autoscaler.policy.ScalingSettings.Aim;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Bounds;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Idle;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Limits;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Metric;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Windows;
import dev.activator.config.GoDuration;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Parses the annotations that define how a revision is scaled. An invalid annotation counts as
 * absent.
 *
 * <p><b>Source.</b> {@code pkg/apis/autoscaling/annotation_validation.go} of Knative Serving, which
 * uses the same messages.
 */
public final class ScalingAnnotations {
  private static final String GROUP = "autoscaling.knative.dev/";
  public static final String PROGRESS_DEADLINE = "serving.knative.dev/progress-deadline";
  private static final double DEFAULT_CONCURRENCY = 100;
  private static final double DEFAULT_RATE = 200;
  private static final double LEAST_TARGET = 0.01;
  private static final BigInteger MAX_INT = BigInteger.valueOf(Integer.MAX_VALUE);
  private static final Duration HOUR = Duration.ofHours(1);

  private final Map<String, String> annotations;
  private final List<Problem> problems = new ArrayList<>();

  public record Problem(String key, String message) {}

  /**
   * The values for absent annotations.
   *
   * @param maxPods the maximum number of pods, which is limited because they are processes on one
   *     machine
   */
  public record Defaults(Duration window, int maxPods) {}

  private ScalingAnnotations(Map<String, String> annotations) {
    this.annotations = annotations;
  }

  public static List<Problem> problems(Map<String, String> annotations) {
    var read = new ScalingAnnotations(annotations);
    read.settings(0, new Defaults(Duration.ofMinutes(1), 1));
    read.checkProgressDeadline();
    return List.copyOf(read.problems);
  }

  /**
   * @param containerConcurrency the maximum number of requests in flight of one pod; 0 for no limit
   */
  public static ScalingSettings settings(Map<String, String> annotations, int containerConcurrency,
      Defaults defaults) {
    return new ScalingAnnotations(annotations).settings(containerConcurrency, defaults);
  }

  private ScalingSettings settings(int containerConcurrency, Defaults defaults) {
    var window = duration("window", Duration.ofSeconds(6), defaults.window, true);
    double panicPercentage = decimal("panic-window-percentage", 1, 100,
        ScalingSettings.PANIC_WINDOW_PERCENTAGE);
    double threshold = decimal("panic-threshold-percentage", 110, 1_000,
        100 * ScalingSettings.PANIC_THRESHOLD) / 100;
    var delay = duration("scale-down-delay", Duration.ZERO, Duration.ZERO, true);
    var retention = duration("scale-to-zero-pod-retention-period", Duration.ZERO, Duration.ZERO,
        false);
    var bounds = bounds(defaults.maxPods);
    return new ScalingSettings(aim(containerConcurrency),
        Windows.of(window, panicPercentage, threshold, weighted()),
        new Limits(Limits.DEFAULT.up(), Limits.DEFAULT.down(), delay, activation()), bounds,
        new Idle(retention, progressDeadline(annotations)), Regime.ALONE);
  }

  /**
   * How long the pods of a revision may take to become ready. An invalid value counts as absent.
   */
  public static Duration progressDeadline(Map<String, String> annotations) {
    var length = length(annotations.getOrDefault(PROGRESS_DEADLINE, ""));
    return length == null || !length.isPositive() || length.toNanosPart() != 0
        ? Idle.DEFAULT.progressDeadline()
        : length;
  }

  private void checkProgressDeadline() {
    var text = annotations.get(PROGRESS_DEADLINE);
    var length = text == null ? null : length(text);
    if (text != null && length == null) {
      problems.add(new Problem(PROGRESS_DEADLINE,
          "invalid value: " + text + ": " + PROGRESS_DEADLINE));
    } else if (length != null && length.toNanosPart() != 0) {
      problems.add(new Problem(PROGRESS_DEADLINE, "progress-deadline=" + text
          + " must be specified with at most second precision: " + PROGRESS_DEADLINE));
    } else if (length != null && !length.isPositive()) {
      problems.add(new Problem(PROGRESS_DEADLINE,
          "progress-deadline=" + text + " must be positive: " + PROGRESS_DEADLINE));
    }
  }

  private Aim aim(int containerConcurrency) {
    var metric = metric();
    boolean concurrency = metric == Metric.CONCURRENCY;
    boolean limited = concurrency && containerConcurrency > 0;
    double total = concurrency ? DEFAULT_CONCURRENCY : DEFAULT_RATE;
    if (limited) {
      total = containerConcurrency;
    }
    var target = value("target", ScalingAnnotations::number);
    if (target != null && target.doubleValue() < LEAST_TARGET) {
      problem("target", "target " + text("target") + " should be at least 0.01");
    } else if (target != null) {
      total = limited ? Math.min(target.doubleValue(), total) : target.doubleValue();
    }
    double utilization = decimal("target-utilization-percentage", 1,
        100, 100 * ScalingSettings.UTILIZATION) / 100;
    return new Aim(metric, Math.max(LEAST_TARGET, total * utilization));
  }

  private Metric metric() {
    var text = text("metric");
    if (text != null && !Set.of("concurrency", "rps").contains(text)) {
      problem("metric", "invalid value: " + text);
    }
    return "rps".equals(text) ? Metric.REQUESTS_PER_SECOND : Metric.CONCURRENCY;
  }

  private boolean weighted() {
    var text = text("metric-aggregation-algorithm");
    boolean weighted = Set.of("weighted-exponential", "weightedExponential")
        .contains(text == null ? "" : text);
    if (text != null && !weighted && !text.isEmpty() && !text.equals("linear")) {
      problem("metric-aggregation-algorithm", "invalid value: " + text);
    }
    return weighted;
  }

  private Bounds bounds(int defaultMax) {
    int min = count("min-scale");
    int max = count("max-scale");
    if (max > 0 && max < min) {
      problems.add(new Problem(GROUP + "max-scale", "max-scale=" + max + " is less than min-scale="
          + min + ": " + GROUP + "max-scale, " + GROUP + "min-scale"));
    }
    var activation = value("activation-scale", ScalingAnnotations::integer);
    if (activation != null) {
      int wanted = activation.intValue();
      if (wanted < min) {
        problem("activation-scale", "min-scale=" + min + " is greater than activation-scale="
            + wanted);
      } else if (max > 0 && max < wanted) {
        problem("activation-scale", "max-scale=" + max + " is less than activation-scale="
            + wanted);
      } else if (wanted < 2) {
        problem("activation-scale", "activation-scale=" + wanted + " must be greater than 1");
      }
    }
    var initial = value("initial-scale", ScalingAnnotations::integer);
    if (initial != null && initial.signum() < 0) {
      problems.add(new Problem(GROUP + "initial-scale", "invalid value: " + initial + ": " + GROUP
          + "initial-scale must be greater than 0"));
    }
    return new Bounds(min, Math.max(min, max > 0 ? max : defaultMax),
        initial == null ? 0 : Math.max(0, initial.intValue()));
  }

  private int activation() {
    var text = text("activation-scale");
    var number = text == null ? null : integer(text);
    return number == null ? 0 : Math.max(0, number.intValue());
  }

  private int count(String name) {
    var number = value(name, ScalingAnnotations::whole);
    if (number == null) {
      return 0;
    }
    if (number.signum() < 0 || number.compareTo(MAX_INT) > 0) {
      range(name, "0", text(name), MAX_INT.toString());
      return 0;
    }
    return number.intValue();
  }

  private double decimal(String name, int least, int most, double otherwise) {
    var number = value(name, ScalingAnnotations::number);
    if (number == null) {
      return otherwise;
    }
    if (number.doubleValue() < least || number.doubleValue() > most) {
      range(name, Integer.toString(least), text(name), Integer.toString(most));
      return otherwise;
    }
    return number.doubleValue();
  }

  private Duration duration(String name, Duration least, Duration otherwise, boolean whole) {
    var length = value(name, ScalingAnnotations::length);
    if (length == null) {
      return otherwise;
    }
    if (length.compareTo(least) < 0 || length.compareTo(HOUR) > 0) {
      range(name, least.toSeconds() + "s", text(name), "1h0m0s");
      return otherwise;
    }
    if (whole && length.toNanosPart() != 0) {
      problem(name, "must be specified with at most second precision");
      return otherwise;
    }
    return length;
  }

  /** Null if it is absent or cannot be parsed; the latter adds a problem. */
  private <T> @Nullable T value(String name, Function<String, @Nullable T> parser) {
    var text = text(name);
    var parsed = text == null ? null : parser.apply(text);
    if (text != null && parsed == null) {
      problem(name, "invalid value: " + text);
    }
    return parsed;
  }

  private @Nullable String text(String name) {
    var text = annotations.get(GROUP + name);
    return text == null ? annotations.get(GROUP + camelCase(name)) : text;
  }

  private void range(String name, String least, @Nullable String value, String most) {
    problem(name, "expected " + least + " <= " + value + " <= " + most);
  }

  private void problem(String name, String message) {
    problems.add(new Problem(GROUP + name, message + ": " + GROUP + name));
  }

  /** The older form of a name: {@code scaleDownDelay} for {@code scale-down-delay}. */
  private static String camelCase(String name) {
    var words = new StringBuilder();
    for (String word : name.split("-")) {
      words.append(words.isEmpty()
          ? word
          : Character.toUpperCase(word.charAt(0))
              + word.substring(1));
    }
    return words.toString();
  }

  private static @Nullable BigInteger whole(String text) {
    return text.matches("[+-]?\\d{1,30}") ? new BigInteger(text) : null;
  }

  private static @Nullable BigInteger integer(String text) {
    var number = whole(text);
    return number == null || number.abs().compareTo(MAX_INT) > 0 ? null : number;
  }

  private static @Nullable BigDecimal number(String text) {
    return text.matches("[+-]?(\\d{1,20}(\\.\\d{0,20})?|\\.\\d{1,20})([eE][+-]?\\d{1,2})?")
        ? new BigDecimal(text)
        : null;
  }

  private static @Nullable Duration length(String text) {
    try {
      return GoDuration.parse(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
