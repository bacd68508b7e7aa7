package dev.activator.config;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Whether the profiling port answers. */
public enum Profiling {
  ENABLED, DISABLED;

  private static final String KEY = "runtime-profiling";
  private static final Map<String, Profiling> WORDS = new TreeMap<>(
      Map.of("enabled", ENABLED, "disabled", DISABLED));

  /** Reads this one switch, whatever else is wrong with the map. */
  public static Parsed<Profiling> parse(Map<String, String> data) {
    var entries = new Entries(data);
    var profiling = read(entries);
    return Parsed.of(entries.problems(), () -> profiling);
  }

  static Profiling read(Entries entries) {
    return entries.oneOf(KEY, DISABLED, WORDS);
  }

  Map<String, String> entries() {
    return Map.of(KEY, name().toLowerCase(Locale.ROOT));
  }
}
