package dev.activator.observability;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JsonLogEncoderTest {
  private final JsonLogEncoder lines = new JsonLogEncoder();

  @Test
  void hasTheKeysOfKnativesLines() {
    lines.setPod("activator-1");
    lines.setCommit("abc123");

    var line = line(Level.INFO, null, "{}: requests can go to {}", FakeRequest.HELLO, "no pod");

    assertThat(line.propertyNames()).containsExactly("severity", "timestamp", "logger", "caller",
        "message", "commit", "knative.dev/controller", "knative.dev/pod", "knative.dev/key");
    assertThat(line.get("timestamp").asString()).isEqualTo("2026-11-21T12:00:00.000000005Z");
    assertThat(line.get("logger").asString()).isEqualTo("activator");
    assertThat(line.get("caller").asString()).startsWith("JsonLogEncoderTest.java:");
    assertThat(line.get("message").asString())
        .isEqualTo("testNs/testRevision: requests can go to no pod");
    assertThat(line.get("commit").asString()).isEqualTo("abc123");
    assertThat(line.get("knative.dev/controller").asString()).isEqualTo("activator");
    assertThat(line.get("knative.dev/pod").asString()).isEqualTo("activator-1");
    assertThat(line.get("knative.dev/key").asString()).isEqualTo("testNs/testRevision");
  }

  @ParameterizedTest(name = "the commit {0} is written as {1}")
  @CsvSource({"6014104aa5bb41f2a9a2f0a1a4e9a8d2b3c4d5e6, 6014104", "abc123, abc123",
      "v1.2.3, v1.2.3", "unknown, unknown"})
  void saysWhatItWasBuiltFrom(String given, String written) {
    lines.setCommit(given);
    assertThat(line(Level.INFO, null, "x").get("commit").asString()).isEqualTo(written);
    // an image that does not know leaves it to the build
    lines.setCommit("");
    assertThat(line(Level.INFO, null, "x").get("commit").asString()).isEqualTo(written);
  }

  @Test
  void takesTheCommitThatTheBuildWroteDown() {
    var written = new Properties();
    assertThat(JsonLogEncoder.commit(written)).isEqualTo("unknown");
    written.setProperty("git.commit.id", "6014104aa5bb41f2a9a2f0a1a4e9a8d2b3c4d5e6");
    written.setProperty("git.dirty", "false");
    assertThat(JsonLogEncoder.commit(written)).isEqualTo("6014104");
    written.setProperty("git.dirty", "true");
    assertThat(JsonLogEncoder.commit(written)).isEqualTo("6014104-dirty");
  }

  @Test
  void hasNoKeyWhereNoRevisionIsMeant() {
    assertThat(line(Level.INFO, null, "Listening for requests on {}:{}", "0.0.0.0", 8012)
        .has("knative.dev/key")).isFalse();
  }

  @Test
  void isOneLineEvenWithAStackTrace() {
    var line = line(Level.ERROR, new IllegalStateException("two\nlines"), "a \"quoted\"\nmessage");

    assertThat(line.get("message").asString()).isEqualTo("a \"quoted\"\nmessage");
    assertThat(line.get("stacktrace").asString()).startsWith(
        "java.lang.IllegalStateException: two\nlines");
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"ERROR, ERROR", "WARN, WARNING", "INFO, INFO", "DEBUG, DEBUG", "TRACE, DEBUG"})
  void namesSeveritiesAsKnativeDoes(String level, String severity) {
    assertThat(line(Level.toLevel(level), null, "x").get("severity").asString())
        .isEqualTo(severity);
  }

  private JsonNode line(Level level, @Nullable Throwable thrown, String message,
      Object... arguments) {
    var logger = new LoggerContext().getLogger("dev.activator.Some");
    var event = new LoggingEvent(JsonLogEncoderTest.class.getName(), logger, level, message, thrown,
        arguments);
    event.setInstant(Instant.parse("2026-11-21T12:00:00.000000005Z"));
    event.setCallerData(new Throwable().getStackTrace());
    String text = new String(lines.encode(event), StandardCharsets.UTF_8);
    assertThat(text).endsWith("\n");
    assertThat(text.strip()).doesNotContain("\n");
    return JsonMapper.builder().build().readTree(text);
  }
}
