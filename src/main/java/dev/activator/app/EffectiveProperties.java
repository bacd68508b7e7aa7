package dev.activator.app;

import dev.activator.config.GoDuration;
import dev.activator.settings.CallerTlsProperties;
import dev.activator.settings.ClusterProperties.AddressProperties;
import dev.activator.settings.ClusterProperties.ConfigMapProperties;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.EmbeddedProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.settings.ProxyServerProperties.PortProperties;
import dev.activator.settings.ProxyServerProperties.ReadinessProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.settings.StandaloneProperties;
import dev.activator.settings.UpstreamProperties.ProbeProperties;
import dev.activator.settings.UpstreamProperties;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.util.unit.DataSize;

/** Lists all properties, with their names, their values after binding, and the source of each. */
public final class EffectiveProperties {
  private static final List<Class<?>> OF_THE_KERNEL = List.of(AddressProperties.class,
      ClusterProperties.class, ConfigMapProperties.class, OutboundProxyProperties.class,
      EmbeddedProperties.class, IdentityProperties.class,
      MetricsServerProperties.class,
      PortProperties.class, ProbeProperties.class,
      ReadinessProperties.class,
      ProxyServerProperties.class,
      StandaloneProperties.class, CallerTlsProperties.class, UpstreamProperties.class);

  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([^:}]+)(?::(.*))?}");
  private static final String DEFAULT = "default";

  private EffectiveProperties() {}

  public static List<String> names() {
    return Stream.concat(OF_THE_KERNEL.stream(), Extensions.settings().stream())
        .flatMap(record -> names(prefix(record), record)).sorted().toList();
  }

  public static SortedMap<String, String> of(Collection<?> records) {
    var all = new TreeMap<String, String>();
    records.forEach(record -> add(prefix(record.getClass()), record, all));
    return all;
  }

  private static String prefix(Class<?> record) {
    return record.getAnnotation(ConfigurationProperties.class).value();
  }

  /** Those of records in a record, too. */
  private static Stream<String> names(String prefix, Class<?> record) {
    return Arrays.stream(record.getRecordComponents()).flatMap(one -> one.getType().isRecord()
        ? names(name(prefix, one), one.getType())
        : Stream.of(name(prefix, one)));
  }

  private static void add(String prefix, Object record, SortedMap<String, String> all) {
    for (var one : record.getClass().getRecordComponents()) {
      var name = name(prefix, one);
      if (value(one, record) instanceof Record inside) {
        add(name, inside, all);
      } else {
        all.put(name, text(value(one, record)));
      }
    }
  }

  private static String name(String prefix, RecordComponent component) {
    return prefix + "." + DataObjectPropertyName.toDashedForm(component.getName());
  }

  private static @Nullable Object value(RecordComponent component, Object record) {
    try {
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String text(@Nullable Object value) {
    return switch (value) {
      case null -> "";
      case Duration length -> GoDuration.print(length);
      case DataSize size when size.equals(DataSize.ofMegabytes(size.toMegabytes())) ->
        size.toMegabytes() + "MB";
      case Enum<?> word -> word.name().toLowerCase(Locale.ROOT);
      case Double number when number == Math.rint(number) -> String.valueOf(number.longValue());
      default -> value.toString();
    };
  }

  /**
   * A property or variable as it was set. In our own files, properties refer to variables with a
   * default, such as {@code ${PROBE_TIMEOUT:300ms}}.
   *
   * @param name the name of the property or variable that was set
   * @param value empty if it is not set
   * @param source such as {@code command line}
   */
  public record Setting(String name, String value, String source) {}

  public static Setting setting(ConfigurableEnvironment environment, String property) {
    return find(environment, property, "");
  }

  private static Setting find(ConfigurableEnvironment environment, String property,
      String absent) {
    var name = ConfigurationPropertyName.of(property);
    for (var source : ConfigurationPropertySources.get(environment)) {
      var found = source.getConfigurationProperty(name);
      if (found != null) {
        return follow(environment, property, String.valueOf(found.getValue()), sourceOf(found));
      }
    }
    return new Setting(property, absent, DEFAULT);
  }

  private static Setting follow(ConfigurableEnvironment environment, String name, String raw,
      String source) {
    var placeholder = PLACEHOLDER.matcher(raw);
    if (!placeholder.matches()) {
      return new Setting(name, environment.resolvePlaceholders(raw), source);
    }
    var next = placeholder.group(1);
    var absent = placeholder.group(2) == null ? "" : placeholder.group(2);
    if (next.indexOf('.') >= 0) {
      return find(environment, next, absent);
    }
    var value = environment.getProperty(next);
    return value == null
        ? follow(environment, name, absent, DEFAULT)
        : new Setting(next, value, "environment " + next);
  }

  private static String sourceOf(ConfigurationProperty found) {
    if (!(found.getOrigin() instanceof PropertySourceOrigin origin)) {
      return DEFAULT;
    }
    var source = origin.getPropertySource().getName();
    return switch (source) {
      case "commandLineArgs" -> "command line";
      case "systemEnvironment" -> "environment " + origin.getPropertyName();
      case "systemProperties" -> "system property " + origin.getPropertyName();
      default -> source.contains("class path resource") ? DEFAULT : source;
    };
  }
}
