package dev.activator.observability.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import dev.activator.revision.RevisionId;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes log lines as Knative's programs do: a JSON object each. A line that names a revision first
 * has it as {@code knative.dev/key} as well.
 *
 * <p>
 * <b>Threads.</b> Any.
 *
 * <p>
 * <b>Source.</b> {@code logging/config.go} and {@code logkey} of {@code knative.dev/pkg}.
 */
public final class JsonLines extends EncoderBase<ILoggingEvent> {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final DateTimeFormatter TIMESTAMP = DateTimeFormatter
      .ofPattern("yyyy-MM-dd'T'HH:mm:ss.nnnnnnnnn'Z'").withZone(ZoneOffset.UTC);
  private static final byte[] NOTHING = {};

  private String pod = "";
  private String commit = Commit.ofBuild();

  /** The name of the pod that this runs in. */
  public void setPod(String name) {
    pod = name;
  }

  /** What it was built from, for who knows it better than the build did; nothing changes nothing. */
  public void setCommit(String hash) {
    commit = hash.isBlank() ? commit : Commit.brief(hash);
  }

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    return (line(event) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private ObjectNode line(ILoggingEvent event) {
    // Severity first, for people who read it all the same.
    var line = JSON.createObjectNode().put("severity", severity(event.getLevel()))
        .put("timestamp", TIMESTAMP.format(event.getInstant())).put("logger", "activator")
        .put("caller", caller(event)).put("message", event.getFormattedMessage())
        .put("commit", commit).put("knative.dev/controller", "activator")
        .put("knative.dev/pod", pod);
    var revision = revision(event.getArgumentArray());
    if (revision != null) {
      line.put("knative.dev/key", revision);
    }
    var thrown = event.getThrowableProxy();
    if (thrown != null) {
      line.put("stacktrace", ThrowableProxyUtil.asString(thrown));
    }
    return line;
  }

  private static String severity(Level level) {
    return switch (level.toInt()) {
      case Level.ERROR_INT -> "ERROR";
      case Level.WARN_INT -> "WARNING";
      case Level.INFO_INT -> "INFO";
      default -> "DEBUG";
    };
  }

  private static String caller(ILoggingEvent event) {
    var stack = event.getCallerData();
    return stack.length == 0
        ? event.getLoggerName()
        : stack[0].getFileName() + ":" + stack[0].getLineNumber();
  }

  private static @Nullable String revision(Object @Nullable [] arguments) {
    return arguments != null && arguments.length > 0 && arguments[0] instanceof RevisionId id
        ? id.toString()
        : null;
  }
}
