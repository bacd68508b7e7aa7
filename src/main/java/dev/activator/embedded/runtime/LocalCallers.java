package dev.activator.embedded.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which pod has a connection, from {@code /proc}: all pods have the loopback address. Nothing is found on
 * other systems.
 */
public final class LocalCallers {
  private static final Path PROC = Path.of("/proc");
  private static final String ESTABLISHED = "01";

  private LocalCallers() {}

  /**
   * Where the pod listens that has a connection from this port of the loopback address; 0 if none has. Takes
   * a millisecond or more.
   */
  public static int podPort(int port) {
    var inodes = inodes(port);
    if (inodes.isEmpty()) {
      return 0;
    }
    long own = ProcessHandle.current().pid();
    try (var all = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (var process : all) {
        if (!process.endsWith(Long.toString(own)) && hasOne(process, inodes)) {
          return portOf(process, own);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // A process has ended meanwhile.
    }
    return 0;
  }

  private static Set<String> inodes(int port) {
    var found = new HashSet<String>();
    var suffix = ":%04X".formatted(port);
    for (var table : new String[]{"net/tcp", "net/tcp6"}) {
      try (Stream<String> lines = Files.lines(PROC.resolve(table))) {
        lines.skip(1).map(line -> line.strip().split("\\s+"))
            .filter(columns -> columns.length > 9 && columns[3].equals(ESTABLISHED)
                && columns[1].endsWith(suffix) && !columns[9].equals("0"))
            .forEach(columns -> found.add(columns[9]));
      } catch (IOException | UncheckedIOException e) {
        // Not on this system.
      }
    }
    return found;
  }

  private static boolean hasOne(Path process, Set<String> inodes) {
    var sockets = new HashSet<String>();
    ListeningPorts.addSockets(process.resolve("fd"), sockets);
    return sockets.stream().anyMatch(inodes::contains);
  }

  /** By the variable that our processes and their children have. */
  private static int portOf(Path process, long own) {
    var prefix = LocalProcess.POD_VARIABLE + "=" + own + "/";
    try {
      for (var variable : Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1)
          .split("\0")) {
        if (variable.startsWith(prefix)) {
          return Integer.parseInt(variable.substring(variable.lastIndexOf('/') + 1));
        }
      }
    } catch (IOException | NumberFormatException e) {
      // It has ended, or is not ours.
    }
    return 0;
  }
}
