package dev.activator.app.properties;

import dev.activator.config.GoDuration;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.unit.DataSize;
import org.springframework.util.unit.DataUnit;

/** Settings as they take effect: what the records have made of what was set. */
public final class EffectiveSettings {
  private static final List<DataUnit> UNITS = List.of(DataUnit.GIGABYTES, DataUnit.MEGABYTES,
      DataUnit.KILOBYTES);
  private static final List<String> UNIT_NAMES = List.of("GB", "MB", "KB");

  private EffectiveSettings() {}

  /** Of these records, by the names of properties. */
  public static SortedMap<String, String> of(Collection<?> records) {
    var all = new TreeMap<String, String>();
    for (var record : records) {
      var prefix = record.getClass().getAnnotation(ConfigurationProperties.class).value();
      for (var component : record.getClass().getRecordComponents()) {
        all.put(prefix + "." + DataObjectPropertyName.toDashedForm(component.getName()),
            text(value(component, record)));
      }
    }
    return all;
  }

  private static @Nullable Object value(RecordComponent component, Object record) {
    try {
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static String text(@Nullable Object value) {
    return switch (value) {
      case null -> "";
      case Duration length -> GoDuration.print(length);
      case DataSize size -> text(size);
      case Enum<?> word -> word.name().toLowerCase(Locale.ROOT);
      case Double number when number == Math.rint(number) -> String.valueOf(number.longValue());
      default -> value.toString();
    };
  }

  private static String text(DataSize size) {
    for (int i = 0; i < UNITS.size(); i++) {
      long unit = DataSize.of(1, UNITS.get(i)).toBytes();
      if (size.toBytes() >= unit && size.toBytes() % unit == 0) {
        return size.toBytes() / unit + UNIT_NAMES.get(i);
      }
    }
    return size.toBytes() + "B";
  }
}
