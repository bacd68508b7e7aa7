package dev.activator.config;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * The settings of the ConfigMap {@code config-logging}.
 *
 * <p><b>Source.</b> {@code logging/config.go} of {@code knative.dev/pkg}. An invalid level of any
 * component makes the map invalid, as does a {@code zap-logger-config} that is not JSON.
 */
public record LoggingConfig(Level level) implements ConfigMapSettings.Content<LoggingConfig> {
  public static final LoggingConfig DEFAULT = new LoggingConfig(Level.INFO);

  private static final String ZAP = "zap-logger-config";
  private static final String PREFIX = "loglevel.";
  private static final String OURS = PREFIX + "activator";
  private static final JsonFactory JSON = new JsonFactory();

  /** The levels of the log. Zap's three highest levels count as errors. */
  public enum Level {
    DEBUG,
    INFO,
    WARN,
    ERROR,
    DPANIC,
    PANIC,
    FATAL;

    static @Nullable Level parse(String text) {
      var word = text.toLowerCase(Locale.ROOT);
      if (word.equals("warning")) {
        return WARN;
      }
      for (var level : values()) {
        if (level.name().toLowerCase(Locale.ROOT).equals(word)) {
          return level;
        }
      }
      return null;
    }
  }

  public static ConfigMapSettings<LoggingConfig> live(String name) {
    return new ConfigMapSettings<>(name, DEFAULT, LoggingConfig::parse);
  }

  public static ParsedSettings<LoggingConfig> parse(Map<String, String> data) {
    var entries = new SettingsParser(data);
    data.keySet().stream().filter(LoggingConfig::isLevel).sorted()
        .forEach(key -> level(entries, key, data.get(key)));
    var ours = Level.parse(entries.text(OURS, ""));
    // As in Knative, that of all is not read if there is our own.
    var level = ours == null ? zapLevel(entries, entries.text(ZAP, "")) : ours;
    return ParsedSettings.of(entries.problems(), () -> new LoggingConfig(level));
  }

  private static boolean isLevel(String key) {
    return key.startsWith(PREFIX) && key.length() > PREFIX.length();
  }

  private static Level level(SettingsParser entries, String key, @Nullable String text) {
    var level = text == null || text.isEmpty() ? Level.INFO : Level.parse(text);
    if (level == null) {
      entries.problem(key + " is '" + text
          + "', but must be one of debug, info, warn, error, dpanic, panic, fatal");
      return Level.INFO;
    }
    return level;
  }

  private static Level zapLevel(SettingsParser entries, String json) {
    if (json.isBlank()) {
      return Level.INFO;
    }
    try {
      var level = zapLevel(json);
      if (level != null) {
        return level(entries, ZAP + ": level", level);
      }
      entries.problem(ZAP + " must be a JSON object");
    } catch (JacksonException e) {
      entries.problem(ZAP + " is not JSON: " + e.getOriginalMessage());
    }
    return Level.INFO;
  }

  /** The level in the JSON; empty if there is none, null if the JSON is not an object. */
  private static @Nullable String zapLevel(String json) {
    try (var parser = JSON.createParser(ObjectReadContext.empty(), json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        parser.skipChildren();
        return null;
      }
      var level = "";
      for (var field = parser.nextName(); field != null; field = parser.nextName()) {
        parser.nextToken();
        level = field.equals("level") ? parser.getValueAsString("") : level;
        parser.skipChildren();
      }
      return level;
    }
  }

  /** None: a new level takes effect at once. */
  @Override
  public List<String> needRestart(LoggingConfig next) {
    return List.of();
  }

  @Override
  public SortedMap<String, String> entries() {
    return new TreeMap<>(Map.of(OURS, level.name().toLowerCase(Locale.ROOT)));
  }
}
