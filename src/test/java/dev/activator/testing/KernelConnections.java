package dev.activator.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the kernel knows of TCP connections, before any program has read it; Linux only. */
public final class KernelConnections {
  private static final List<Path> TABLES = List.of(Path.of("/proc/net/tcp"),
      Path.of("/proc/net/tcp6"));
  private static final String ESTABLISHED = "01";

  private KernelConnections() {}

  /** Whether it can be asked. */
  public static boolean areKnown() {
    return Files.isReadable(TABLES.getFirst());
  }

  /** Whether the end at this port is open towards the other, and neither has ended its side. */
  public static boolean isEstablished(int port, int otherPort) {
    return TABLES.stream().filter(Files::isReadable).flatMap(table -> lines(table).stream())
        .map(line -> line.strip().split("\\s+"))
        .anyMatch(fields -> fields[1].endsWith(hex(port)) && fields[2].endsWith(hex(otherPort))
            && fields[3].equals(ESTABLISHED));
  }

  private static List<String> lines(Path table) {
    try {
      return Files.readAllLines(table);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String hex(int port) {
    return String.format(":%04X", port);
  }
}
