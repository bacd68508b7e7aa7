package dev.activator.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the kernel knows of TCP connections, before any program has read it; Linux only. */
public final class KernelConnections {
  private static final List<Path> TABLES = List.of(Path.of("/proc/net/tcp"),
      Path.of("/proc/net/tcp6"));
  private static final String ESTABLISHED = "01";
  private static final String KEEP_ALIVE_TIMER = "02:";

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

  /** The time to the next keep-alive probe from one end to the other; null if none is set. */
  public static @Nullable Duration untilKeepAlive(int port, int otherPort) {
    return TABLES.stream().filter(Files::isReadable).flatMap(table -> lines(table).stream())
        .map(line -> line.strip().split("\\s+"))
        .filter(fields -> fields[1].endsWith(hex(port)) && fields[2].endsWith(hex(otherPort))
            && fields[5].startsWith(KEEP_ALIVE_TIMER))
        .map(fields -> Duration.ofMillis(
            10 * Long.parseLong(fields[5].substring(KEEP_ALIVE_TIMER.length()), 16)))
        .findFirst().orElse(null);
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
