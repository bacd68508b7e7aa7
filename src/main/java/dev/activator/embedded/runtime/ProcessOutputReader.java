package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ContainerLog;
import dev.activator.embedded.runtime.policy.CrashMessageFinder;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The output of one process, read line by line.
 *
 * <p><b>Threads.</b> One thread reads the output. Any thread may call the other methods.
 */
final class ProcessOutputReader {
  private static final Logger log = LoggerFactory.getLogger(ProcessOutputReader.class);
  /** The limit of a line. Longer lines are split, because a process may never end one. */
  private static final int MAX_CHARS = 8 * 1024;
  private static final int LAST_LINES = 20;
  /**
   * The number of lines that are searched for an error message. It is large because a stack trace
   * may be long.
   */
  private static final int SEARCHED_LINES = 300;
  /** The limit of a line that is quoted in a status. */
  private static final int QUOTED_CHARS = 500;

  private final ContainerLog lines;
  private final Clock clock;
  private final Consumer<String> echo;
  private final StringBuilder line = new StringBuilder();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  ProcessOutputReader(ContainerLog lines, Clock clock, Consumer<String> echo) {
    this.lines = lines;
    this.clock = clock;
    this.echo = echo;
  }

  List<String> lastLines() {
    return last(LAST_LINES);
  }

  private List<String> last(int count) {
    var all = lines.lines();
    return all.subList(Math.max(0, all.size() - count), all.size()).stream()
        .map(ContainerLog.Line::text).toList();
  }

  /** The line that contains the reason why the process ended; may be empty. */
  String errorLine() {
    var line = CrashMessageFinder.of(last(SEARCHED_LINES));
    return line.length() > QUOTED_CHARS ? line.substring(0, QUOTED_CHARS) : line;
  }

  /** Runs a task when all output has been read. */
  void onEnd(Runnable task) {
    var _ = ended.thenRun(task);
  }

  /** Reads the output. Blocks until it ends. */
  void read(InputStream output) {
    try (Reader reader = new InputStreamReader(output, StandardCharsets.UTF_8)) {
      char[] some = new char[4096];
      for (int count = reader.read(some); count >= 0; count = reader.read(some)) {
        for (int i = 0; i < count; i++) {
          add(some[i]);
        }
      }
    } catch (IOException e) {
      log.debug("An output ended", e);
    }
    if (!line.isEmpty()) {
      endLine();
    }
    end();
  }

  void end() {
    lines.end();
    ended.complete(null);
  }

  void print(String text) {
    lines.append(clock.instant(), text);
    echo.accept(text);
  }

  private void add(char next) {
    if (next == '\n' || line.length() == MAX_CHARS) {
      endLine();
    }
    if (next != '\n' && next != '\r') {
      line.append(next);
    }
  }

  private void endLine() {
    print(line.toString());
    line.setLength(0);
  }
}
