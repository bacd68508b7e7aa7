package dev.activator.embedded.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last lines that a process printed. Long lines are cut: a process may never end one.
 *
 * <p>
 * <b>Threads.</b> One reads; any may ask.
 */
final class OutputTail {
  private static final Logger log = LoggerFactory.getLogger(OutputTail.class);
  private static final int MAX_LINES = 20;
  private static final int MAX_CHARS = 500;

  private final String pod;
  private final Deque<String> last = new ArrayDeque<>();
  private final StringBuilder line = new StringBuilder();
  private volatile List<String> lines = List.of();
  private volatile boolean ended;

  OutputTail(String pod) {
    this.pod = pod;
  }

  List<String> lines() {
    return lines;
  }

  /** Not blank; may be empty. */
  String lastLine() {
    return lines.reversed().stream().filter(one -> !one.isBlank()).findFirst().orElse("").strip();
  }

  boolean ended() {
    return ended;
  }

  /** Blocks until the output ends. */
  void read(InputStream output) {
    try (Reader reader = new InputStreamReader(output, StandardCharsets.UTF_8)) {
      char[] some = new char[4096];
      for (int count = reader.read(some); count >= 0; count = reader.read(some)) {
        for (int i = 0; i < count; i++) {
          add(some[i]);
        }
      }
    } catch (IOException e) {
      log.debug("The output of {} ended", pod, e);
    }
    if (!line.isEmpty()) {
      endLine();
    }
    ended = true;
  }

  private void add(char next) {
    if (next == '\n') {
      endLine();
    } else if (next != '\r' && line.length() < MAX_CHARS) {
      line.append(next);
    }
  }

  private void endLine() {
    if (last.size() == MAX_LINES) {
      last.removeFirst();
    }
    last.addLast(line.toString());
    line.setLength(0);
    lines = List.copyOf(last);
    log.debug("{}: {}", pod, last.getLast());
  }
}
