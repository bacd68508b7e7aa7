package dev.activator.lifecycle;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Finds the TCP ports on which a process listens, in {@code /proc}. On other systems no ports are
 * found.
 */
public final class ListeningPortFinder {
  private static final Path PROC = Path.of("/proc");
  private static final String LISTENING = "0A";

  private ListeningPortFinder() {}

  /** The ports of a process and its children. */
  public static SortedSet<Integer> of(long pid) {
    return of(ProcessHandle.of(pid).stream()
        .flatMap(one -> Stream.concat(Stream.of(one), one.descendants())));
  }

  /** The process that listens on a port; empty if that is not known, as of another user's. */
  public static Optional<ProcessHandle> owner(int port) {
    return ProcessHandle.allProcesses().filter(one -> of(Stream.of(one)).contains(port))
        .findFirst();
  }

  private static SortedSet<Integer> of(Stream<ProcessHandle> processes) {
    var inodes = new HashSet<String>();
    processes.forEach(one -> addSockets(PROC.resolve(one.pid() + "/fd"), inodes));
    var ports = new TreeSet<Integer>();
    for (var table : new String[]{"net/tcp", "net/tcp6"}) {
      try (Stream<String> lines = Files.lines(PROC.resolve(table))) {
        lines.skip(1).map(line -> line.strip().split("\\s+"))
            .filter(columns -> columns.length > 9 && columns[3].equals(LISTENING)
                && inodes.contains(columns[9]))
            .forEach(columns -> ports.add(
                Integer.parseInt(columns[1].substring(columns[1].indexOf(':') + 1), 16)));
      } catch (IOException | UncheckedIOException e) {
        // The system has no such file.
      }
    }
    return ports;
  }

  /** Adds the inodes of the sockets of a process. It may end, or close files, at any time. */
  static void addSockets(Path descriptors, Set<String> inodes) {
    try (var all = Files.newDirectoryStream(descriptors)) {
      all.forEach(one -> {
        String target = target(one);
        if (target.startsWith("socket:[")) {
          inodes.add(target.substring("socket:[".length(), target.length() - 1));
        }
      });
    } catch (IOException | DirectoryIteratorException e) {
      // The process has ended, so it has no sockets.
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
