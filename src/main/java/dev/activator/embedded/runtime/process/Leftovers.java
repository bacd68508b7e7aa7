package dev.activator.embedded.runtime.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds what a process left behind. A child outlives its parent under another one's name, but keeps
 * the environment it was started with; a mark in there says whose it was.
 *
 * <p>
 * <b>Errors.</b> Where there is no {@code /proc}, nothing is found.
 */
final class Leftovers {
  /** The variable that carries the mark. */
  static final String VARIABLE = "ACTIVATOR_POD";

  private static final Logger log = LoggerFactory.getLogger(Leftovers.class);
  private static final Path PROC = Path.of("/proc");

  private Leftovers() {}

  /** Ends every process with this mark. */
  static void kill(String mark) {
    if (!Files.isDirectory(PROC)) {
      return;
    }
    try (Stream<Path> entries = Files.list(PROC)) {
      entries.filter(entry -> entry.getFileName().toString().matches("\\d+"))
          .filter(entry -> isMarked(entry, mark)).forEach(Leftovers::kill);
    } catch (IOException e) {
      log.warn("Cannot look for processes that {} left behind", mark, e);
    }
  }

  private static boolean isMarked(Path entry, String mark) {
    try {
      var environment = Files.readString(entry.resolve("environ"), StandardCharsets.ISO_8859_1);
      return Arrays.asList(environment.split("\0")).contains(VARIABLE + "=" + mark);
    } catch (IOException e) {
      // Gone meanwhile, or not ours to read: then we did not start it.
      return false;
    }
  }

  private static void kill(Path entry) {
    long pid = Long.parseLong(entry.getFileName().toString());
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
  }
}
