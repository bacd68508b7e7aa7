package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.LoggingConfig.Level;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LoggingConfigTest {
  @Test
  @DisplayName("an empty map means info")
  void anEmptyMapMeansInfo() {
    assertThat(levelOf(Map.of())).isEqualTo(Level.INFO);
    assertThat(levelOf(Map.of("_example", "loglevel.activator: nonsense"))).isEqualTo(Level.INFO);
  }

  @ParameterizedTest(name = "loglevel.activator {0}")
  @CsvSource({"debug, DEBUG", "info, INFO", "warn, WARN", "error, ERROR", "dpanic, DPANIC",
      "panic, PANIC", "fatal, FATAL", "Debug, DEBUG", "WARN, WARN", "'', INFO"})
  void readsOurLevelInAnyCase(String text, Level level) {
    assertThat(levelOf(Map.of("loglevel.activator", text))).isEqualTo(level);
  }

  @Test
  @DisplayName("our own level wins over the one for all, which wins over info")
  void ourOwnLevelWins() {
    var zap = "{\"level\": \"error\", \"encoding\": \"json\"}";
    assertThat(levelOf(Map.of("zap-logger-config", zap))).isEqualTo(Level.ERROR);
    assertThat(levelOf(Map.of("zap-logger-config", zap, "loglevel.activator", "debug")))
        .isEqualTo(Level.DEBUG);
    assertThat(levelOf(Map.of("zap-logger-config", "{}", "loglevel.autoscaler", "debug")))
        .isEqualTo(Level.INFO);
  }

  @ParameterizedTest(name = "{0}: {1} makes the map invalid")
  @CsvSource(delimiter = '|', value = {
      "loglevel.activator | verbose | loglevel.activator is 'verbose', but must be one of debug, info, warn, error, dpanic, panic, fatal",
      "loglevel.autoscaler | verbose | loglevel.autoscaler is 'verbose', but must be one of debug, info, warn, error, dpanic, panic, fatal",
      "zap-logger-config | {\"level\": \"loud\"} | zap-logger-config: level is 'loud', but must be one of debug, info, warn, error, dpanic, panic, fatal",
      "zap-logger-config | [] | zap-logger-config must be a JSON object"})
  void refusesTheMapForOneBadValueAndNamesIt(String key, String value, String problem) {
    assertThat(problemsOf(Map.of(key, value))).isEqualTo(problem);
  }

  @Test
  void refusesALoggerConfigThatIsNotJson() {
    assertThat(problemsOf(Map.of("zap-logger-config", "{level: info")))
        .startsWith("zap-logger-config is not JSON: ").doesNotContain("\n");
  }

  @ParameterizedTest(name = "{0}: {1} is warn")
  @CsvSource(delimiter = '|', value = {"loglevel.activator | warning",
      "loglevel.activator | WARNING", "zap-logger-config | {\"level\": \"warning\"}"})
  void readsWarning_asKnativeSince1_21(String key, String value) {
    assertThat(problemsOf(Map.of(key, value))).isEqualTo("none");
    assertThat(levelOf(Map.of(key, value))).isEqualTo(Level.WARN);
  }

  @Test
  void acceptsTheLevelWarningOfAnotherComponent() {
    assertThat(problemsOf(Map.of("loglevel.controller", "warning"))).isEqualTo("none");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{level: info", "[]", "{\"level\": \"loud\"}"})
  void readsNoLoggerConfig_whenThereIsOurOwnLevel(String zap) {
    var data = Map.of("zap-logger-config", zap, "loglevel.activator", "debug");

    assertThat(problemsOf(data)).isEqualTo("none");
    assertThat(levelOf(data)).isEqualTo(Level.DEBUG);
  }

  private static Level levelOf(Map<String, String> data) {
    return LoggingConfig.parse(data) instanceof ParsedSettings.Valid<LoggingConfig>(var settings)
        ? settings.level()
        : Level.FATAL;
  }

  private static String problemsOf(Map<String, String> data) {
    return LoggingConfig.parse(data) instanceof ParsedSettings.Invalid<LoggingConfig> invalid
        ? invalid.line()
        : "none";
  }
}
