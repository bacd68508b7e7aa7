package dev.activator.observability.log;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.regex.Pattern;

/**
 * What the process was built from, as Knative's programs say it: seven digits, and {@code -dirty}
 * where there was something besides that was not committed.
 *
 * <p>
 * <b>Source.</b> {@code changeset} of {@code knative.dev/pkg}.
 */
final class Commit {
  private static final String WRITTEN_BY_THE_BUILD = "/git.properties";
  private static final Pattern HASH = Pattern.compile("([0-9a-f]{7})[0-9a-f]{33}(-dirty)?");
  private static final String UNKNOWN = "unknown";

  private Commit() {}

  /** As the build wrote it down, which was in a repository or not. */
  static String ofBuild() {
    var written = new Properties();
    try (var file = Commit.class.getResourceAsStream(WRITTEN_BY_THE_BUILD)) {
      if (file != null) {
        written.load(file);
      }
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
    return of(written);
  }

  static String of(Properties written) {
    return brief(written.getProperty("git.commit.id", UNKNOWN)
        + (written.getProperty("git.dirty", "").equals("true") ? "-dirty" : ""));
  }

  /** A hash that is whole in short; any other text as it is. */
  static String brief(String text) {
    var hash = HASH.matcher(text);
    return hash.matches() ? hash.group(1) + (hash.group(2) == null ? "" : hash.group(2)) : text;
  }
}
