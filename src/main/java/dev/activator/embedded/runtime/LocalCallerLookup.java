package dev.activator.embedded.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Finds the pod that has opened a connection. All pods have the loopback address, so the connection
 * is looked up in {@code /proc}. On other systems no pod is found.
 *
 * <p>A lookup blocks an event loop for a millisecond, and for forty with ten thousand connections.
 * So lookups may take only a twentieth of the time, after a burst.
 *
 * <p><b>Threads.</b> Any.
 */
public final class LocalCallerLookup {
  private static final Path PROC = Path.of("/proc");
  private static final String ESTABLISHED = "01";
  private static final int TIMES = 20;
  private static final long BURST_NANOS = 100_000_000;

  private final LongSupplier nanoTime;
  private final IntUnaryOperator lookup;
  /** The time of the next lookup. Each lookup delays it by {@link #TIMES} times its duration. */
  private long dueNanos;

  public LocalCallerLookup(LongSupplier nanoTime) {
    this(nanoTime, LocalCallerLookup::find);
  }

  LocalCallerLookup(LongSupplier nanoTime, IntUnaryOperator lookup) {
    this.nanoTime = nanoTime;
    this.lookup = lookup;
    this.dueNanos = nanoTime.getAsLong() - TIMES * BURST_NANOS;
  }

  /**
   * The port of the pod that has opened a connection from this port of the loopback address; 0 if
   * no pod has, or if lookups have taken too much time.
   */
  public int podPort(int port) {
    long begun = nanoTime.getAsLong();
    if (!isDue(begun)) {
      return 0;
    }
    try {
      return lookup.applyAsInt(port);
    } finally {
      took(nanoTime.getAsLong() - begun);
    }
  }

  private synchronized boolean isDue(long now) {
    dueNanos += Math.max(0, now - TIMES * BURST_NANOS - dueNanos);
    return now - dueNanos >= 0;
  }

  private synchronized void took(long nanos) {
    dueNanos += TIMES * nanos;
  }

  private static int find(int port) {
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
      // A process has ended in the meantime.
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
        // The system has no such file.
      }
    }
    return found;
  }

  private static boolean hasOne(Path process, Set<String> inodes) {
    var sockets = new HashSet<String>();
    ListeningPortFinder.addSockets(process.resolve("fd"), sockets);
    return sockets.stream().anyMatch(inodes::contains);
  }

  /**
   * The port of the pod to which a process belongs, from a variable that processes of pods and
   * their children have.
   */
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
      // The process has ended, or belongs to another user.
    }
    return 0;
  }
}
