package dev.activator.app.properties;

import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * The name under which a property was set, and where: our own files refer properties to variables
 * with a default, such as {@code ${PROBE_TIMEOUT:300ms}}.
 */
public final class SettingOrigins {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([^:}]+)(?::(.*))?}");
  private static final String DEFAULT = "default";

  private final ConfigurableEnvironment environment;

  public SettingOrigins(ConfigurableEnvironment environment) {
    this.environment = environment;
  }

  /**
   * @param name of the property or variable that was set
   * @param source such as {@code command line}
   */
  public record Setting(String name, String value, String source) {}

  public Setting of(String property, String absent) {
    var found = find(property);
    return found == null
        ? new Setting(property, absent, DEFAULT)
        : follow(property, String.valueOf(found.getValue()), sourceOf(found, property));
  }

  private @Nullable ConfigurationProperty find(String property) {
    var name = ConfigurationPropertyName.of(property);
    for (var source : ConfigurationPropertySources.get(environment)) {
      var found = source.getConfigurationProperty(name);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private Setting follow(String name, String raw, String source) {
    var placeholder = PLACEHOLDER.matcher(raw);
    if (!placeholder.matches()) {
      return new Setting(name, environment.resolvePlaceholders(raw), source);
    }
    var next = placeholder.group(1);
    var absent = placeholder.group(2) == null ? "" : placeholder.group(2);
    if (next.indexOf('.') >= 0) {
      return of(next, absent);
    }
    var value = environment.getProperty(next);
    return value == null
        ? follow(name, absent, DEFAULT)
        : new Setting(next, value, "environment " + next);
  }

  private static String sourceOf(ConfigurationProperty found, String property) {
    var source = found.getSource();
    var underlying = source == null ? null : source.getUnderlyingSource();
    var name = underlying instanceof PropertySource<?> named ? named.getName() : "";
    return switch (name) {
      case "commandLineArgs" -> "command line";
      case "systemEnvironment" -> "environment " + variable(property);
      case "systemProperties" -> "system property " + property;
      default -> name.contains("class path resource") ? DEFAULT : name;
    };
  }

  /** As Spring maps them: no dashes, underscores for dots. */
  private static String variable(String property) {
    return property.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT);
  }
}
