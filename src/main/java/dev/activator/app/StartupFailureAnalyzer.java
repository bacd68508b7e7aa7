package dev.activator.app;

import dev.activator.lifecycle.StartupFailedException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

/**
 * A Spring FailureAnalyzer that explains in one sentence why the activator does not start. It names
 * a wrong setting as it was set, for example by its variable.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class StartupFailureAnalyzer implements FailureAnalyzer {
  private static final Map<Class<?>, String> IN_WORDS = Map.of(Integer.class, "a whole number",
      Long.class, "a whole number", Double.class, "a number", Boolean.class, "true or false",
      Duration.class, "a duration such as 30s", DataSize.class, "a size such as 64MB",
      InetAddress.class, "an address");

  private final Environment environment;

  StartupFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  public @Nullable FailureAnalysis analyze(Throwable failure) {
    for (var cause = failure; cause != null; cause = cause.getCause()) {
      var sentence = switch (cause) {
        case StartupFailedException known -> known.getMessage();
        case BindException refused -> sentence(refused);
        case PortInUseException taken -> "the port " + taken.getPort()
            + " for metrics and health (METRICS_PROMETHEUS_PORT, activator.metrics-server.port) is"
            + " in use";
        default -> null;
      };
      if (sentence != null) {
        return new FailureAnalysis(sentence, null, cause);
      }
    }
    return null;
  }

  private @Nullable String sentence(BindException failure) {
    var deepest = NestedExceptionUtils.getMostSpecificCause(failure);
    if (deepest instanceof IllegalArgumentException && isOurs(deepest)) {
      return deepest.getMessage();
    }
    // Other exceptions, such as a NumberFormatException, do not name the property.
    var property = failure.getProperty();
    return property != null && environment instanceof ConfigurableEnvironment all
        ? sentence(property.getName().toString(), all, typeOf(failure))
        : null;
  }

  private static boolean isOurs(Throwable refusal) {
    var frames = refusal.getStackTrace();
    return frames.length > 0 && frames[0].getClassName().startsWith("dev.activator.");
  }

  private static Class<?> typeOf(BindException failure) {
    return ClassUtils
        .resolvePrimitiveIfNecessary(failure.getTarget().getType().resolve(Object.class));
  }

  private static String sentence(String property, ConfigurableEnvironment environment,
      Class<?> type) {
    var setting = EffectiveProperties.setting(environment, property);
    return setting.name() + " is '" + setting.value() + "', but must be " + inWords(type);
  }

  private static String inWords(Class<?> type) {
    var constants = type.getEnumConstants();
    return constants == null
        ? IN_WORDS.getOrDefault(type, "a " + type.getSimpleName())
        : "one of " + Arrays.stream(constants)
            .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
  }

  /** Logs the failure in one line, because log collectors would split several lines. */
  static final class Reporter implements FailureAnalysisReporter {
    private static final Logger log = LoggerFactory.getLogger(StartupFailureAnalyzer.class);

    @Override
    public void report(FailureAnalysis analysis) {
      log.error("Cannot start: {}",
          analysis.getDescription().strip().replaceAll("\\s*\\R\\s*", " "));
      log.debug("The cause", analysis.getCause());
    }
  }
}
