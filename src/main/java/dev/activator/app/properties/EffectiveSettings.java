package dev.activator.app.properties;

import dev.activator.app.properties.ClusterProperties.AddressProperties;
import dev.activator.app.properties.ClusterProperties.ConfigMapProperties;
import dev.activator.app.properties.MetricsServerProperties.ProfilingProperties;
import dev.activator.app.properties.ServingProperties.PortProperties;
import dev.activator.app.properties.ServingProperties.ReadinessProperties;
import dev.activator.app.properties.UpstreamProperties.ProbeProperties;
import dev.activator.config.GoDuration;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.unit.DataSize;

/** All properties, and their values after binding. */
public final class EffectiveSettings {
  private static final List<Class<? extends Record>> RECORDS = List.of(AddressProperties.class,
      ClusterProperties.class, ConfigMapProperties.class, EgressProperties.class,
      EmbeddedProperties.class, IdentityProperties.class, MetricsProperties.class,
      MetricsServerProperties.class,
      OtelProperties.class, PortProperties.class, ProbeProperties.class,
      ProfilingProperties.class, ReadinessProperties.class, RescueProperties.class,
      ServingProperties.class,
      StandaloneProperties.class, TlsProperties.class, UpstreamProperties.class);

  private EffectiveSettings() {}

  public static List<String> names() {
    return RECORDS.stream().flatMap(record -> Arrays.stream(record.getRecordComponents()))
        .map(EffectiveSettings::name).sorted().toList();
  }

  public static SortedMap<String, String> of(Collection<?> records) {
    var all = new TreeMap<String, String>();
    records.forEach(record -> Stream.of(record.getClass().getRecordComponents())
        .forEach(component -> all.put(name(component), text(value(component, record)))));
    return all;
  }

  private static String name(RecordComponent component) {
    return component.getDeclaringRecord().getAnnotation(ConfigurationProperties.class).value()
        + "." + DataObjectPropertyName.toDashedForm(component.getName());
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
}
