package dev.activator.observability;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import dev.activator.revision.RevisionId;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Encodes log lines as Knative's JSON. If the first argument is a revision, it is also written as
 * {@code knative.dev/key}. Jackson's data binding is not used, because nothing else needs it during
 * a start.
 *
 * <p><b>Source.</b> {@code logging/config.go}, {@code logkey} and {@code changeset} of
 * {@code knative.dev/pkg}.
 */
public final class JsonLogEncoder extends EncoderBase<ILoggingEvent> {
  private static final JsonFactory JSON = new JsonFactory();
  private static final DateTimeFormatter TIMESTAMP = DateTimeFormatter
      .ofPattern("yyyy-MM-dd'T'HH:mm:ss.nnnnnnnnn'Z'").withZone(ZoneOffset.UTC);
  private static final byte[] NOTHING = {};
  private static final String WRITTEN_BY_THE_BUILD = "/git.properties";
  private static final Pattern HASH = Pattern.compile("([0-9a-f]{7})[0-9a-f]{33}(-dirty)?");

  private String pod = "";
  private String commit = commit(build());

  public void setPod(String name) {
    pod = name;
  }

  /** Overrides the build's commit unless blank. */
  public void setCommit(String hash) {
    commit = hash.isBlank() ? commit : brief(hash);
  }

  private static Properties build() {
    var written = new Properties();
    try (var file = JsonLogEncoder.class.getResourceAsStream(WRITTEN_BY_THE_BUILD)) {
      if (file != null) {
        written.load(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return written;
  }

  /** Overrides the build's commit unless blank. */
  static String commit(Properties build) {
    return brief(build.getProperty("git.commit.id", "unknown")
        + (build.getProperty("git.dirty", "").equals("true") ? "-dirty" : ""));
  }

  /** The first seven digits of a commit, and {@code -dirty} if there were uncommitted changes. */
  private static String brief(String text) {
    var hash = HASH.matcher(text);
    return hash.matches() ? hash.group(1) + (hash.group(2) == null ? "" : hash.group(2)) : text;
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

  private String line(ILoggingEvent event) {
    var text = new StringWriter();
    try (var line = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      line.writeStartObject();
      // Severity comes first, for people who read the raw line.
      line.writeStringProperty("severity", severity(event.getLevel()));
      line.writeStringProperty("timestamp", TIMESTAMP.format(event.getInstant()));
      line.writeStringProperty("logger", "activator");
      line.writeStringProperty("caller", caller(event));
      line.writeStringProperty("message", event.getFormattedMessage());
      line.writeStringProperty("commit", commit);
      line.writeStringProperty("knative.dev/controller", "activator");
      line.writeStringProperty("knative.dev/pod", pod);
      var revision = revision(event.getArgumentArray());
      if (revision != null) {
        line.writeStringProperty("knative.dev/key", revision);
      }
      var thrown = event.getThrowableProxy();
      if (thrown != null) {
        line.writeStringProperty("stacktrace", ThrowableProxyUtil.asString(thrown));
      }
      line.writeEndObject();
    }
    return text.toString();
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
