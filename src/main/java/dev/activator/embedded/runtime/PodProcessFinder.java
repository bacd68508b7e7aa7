package dev.activator.embedded.runtime;

import dev.activator.loop.Loop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the processes of pods, and their children, by an environment variable that names the pod.
 *
 * <p><b>Errors.</b> On systems without {@code /proc}, none are found.
 */
final class PodProcessFinder {
  private static final Logger log = LoggerFactory.getLogger(PodProcessFinder.class);
  /** Its value is a {@link #mark}. */
  static final String POD_VARIABLE = "ACTIVATOR_POD";
  private static final Path PROC = Path.of("/proc");
  private static final Duration KILL_AFTER = Duration.ofSeconds(3);

  private PodProcessFinder() {}

  /** The name of a pod among those of all activators of this machine. */
  static String mark(String pod, int port) {
    return ProcessHandle.current().pid() + "/" + pod + "/" + port;
  }

  static List<ProcessHandle> marked(String mark) {
    return find(mark::equals);
  }

  /** Ends the processes of an activator that could not do so, because it was killed. */
  static void endLeftovers(Loop loop) {
    var left = find(mark -> mark.matches("\\d+/.*")
        && ProcessHandle.of(Long.parseLong(mark.substring(0, mark.indexOf('/')))).isEmpty());
    left.forEach(process -> {
      log.warn("Process {} ({}) was left by an activator that was killed, and is ended",
          process.pid(), process.info().commandLine().orElse(""));
      process.destroy();
    });
    loop.schedule(KILL_AFTER, () -> left.forEach(ProcessHandle::destroyForcibly));
  }

  private static List<ProcessHandle> find(Predicate<String> marks) {
    if (!Files.isDirectory(PROC)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(PROC)) {
      // Elsewhere, as in a container, the same ids name other processes.
      var namespace = namespace(PROC.resolve("self"));
      return entries.filter(entry -> entry.getFileName().toString().matches("\\d+"))
          .filter(entry -> mark(entry).filter(marks).isPresent()
              && namespace(entry).equals(namespace))
          .map(entry -> ProcessHandle.of(Long.parseLong(entry.getFileName().toString())))
          .flatMap(Optional::stream).filter(one -> !one.equals(ProcessHandle.current())).toList();
    } catch (IOException | UncheckedIOException e) {
      log.warn("Cannot look for processes that pods left behind", e);
      return List.of();
    }
  }

  private static Optional<String> mark(Path entry) {
    try {
      var environment = Files.readString(entry.resolve("environ"), StandardCharsets.ISO_8859_1);
      return Stream.of(environment.split("\0"))
          .filter(variable -> variable.startsWith(POD_VARIABLE + "=")).findFirst()
          .map(variable -> variable.substring(POD_VARIABLE.length() + 1));
    } catch (IOException _) {
      // The process has ended, or belongs to another user.
      return Optional.empty();
    }
  }

  private static Optional<Path> namespace(Path entry) {
    try {
      return Optional.of(Files.readSymbolicLink(entry.resolve("ns/pid")));
    } catch (IOException _) {
      return Optional.empty();
    }
  }
}
