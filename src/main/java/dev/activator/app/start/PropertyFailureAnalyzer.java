package dev.activator.app.start;

import dev.activator.app.properties.SettingOrigins;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

/**
 * Says which setting is wrong, in the words of who set it: a variable, where the property has its
 * value from one. Records that refuse their values say it themselves.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class PropertyFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {
  private static final Map<Class<?>, String> IN_WORDS = Map.of(Integer.class, "a whole number",
      Long.class, "a whole number", Double.class, "a number", Boolean.class, "true or false",
      Duration.class, "a duration such as 30s", DataSize.class, "a size such as 64MB",
      InetAddress.class, "an address");

  private final Environment environment;

  public PropertyFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  protected @Nullable FailureAnalysis analyze(Throwable root, BindException cause) {
    Throwable deepest = cause;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    if (deepest instanceof IllegalArgumentException && isOurs(deepest)) {
      return new FailureAnalysis(deepest.getMessage(), null, cause);
    }
    // Others, such as a NumberFormatException, do not know which property they are about.
    var property = cause.getProperty();
    return property != null && environment instanceof ConfigurableEnvironment all
        ? new FailureAnalysis(sentence(property.getName().toString(), all, typeOf(cause)), null,
            cause)
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
    var setting = new SettingOrigins(environment).of(property, "");
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
}
