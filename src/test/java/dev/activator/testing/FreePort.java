package dev.activator.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Ports on which nothing listens. Each is given once, and from below those that the kernel and the embedded
 * runtime give: no test next to this one comes to listen or to call from there. Nor does one of another process: each takes
 * blocks of ports, and a lock on a file for each block.
 */
public final class FreePort {
  private static final int FIRST = 10_000;
  private static final int BLOCK = 100;
  private static final int BLOCKS = 100;
  /** Of one process, which then begins again with its first. */
  private static final int MAX_BLOCKS = 20;
  private static final Path LOCKS = Path.of(System.getProperty("java.io.tmpdir"),
      "activator-test-ports");

  private static final List<Integer> own = new ArrayList<>();
  /** Never closed: the locks end with the process. */
  private static final List<FileChannel> locked = new ArrayList<>();
  private static int given;

  private FreePort() {}

  public static int next() {
    while (true) {
      int port = candidate();
      // Another program may have it. It does not listen, as a program that another test starts now would go on.
      try (var free = SocketChannel.open()) {
        free.setOption(StandardSocketOptions.SO_REUSEADDR, true).bind(new InetSocketAddress(port));
        return port;
      } catch (IOException taken) {
        continue;
      }
    }
  }

  private static synchronized int candidate() {
    int at = given / BLOCK;
    if (at == own.size() && at < MAX_BLOCKS) {
      takeBlock();
    }
    int port = FIRST + own.get(at % own.size()) * BLOCK + given % BLOCK;
    given++;
    return port;
  }

  /** Of many processes, a late one gets none, and goes on with those that it has. */
  private static void takeBlock() {
    var all = new ArrayList<>(IntStream.range(0, BLOCKS).boxed().toList());
    Collections.shuffle(all);
    for (int block : all) {
      if (lock(block)) {
        own.add(block);
        return;
      }
    }
    if (own.isEmpty()) {
      own.add(all.getFirst());
    }
  }

  private static boolean lock(int block) {
    try {
      Files.createDirectories(LOCKS);
      var file = FileChannel.open(LOCKS.resolve(Integer.toString(block)), StandardOpenOption.CREATE,
          StandardOpenOption.WRITE);
      if (isLocked(file)) {
        locked.add(file);
        return true;
      }
      file.close();
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isLocked(FileChannel file) throws IOException {
    try {
      return file.tryLock() != null;
    } catch (OverlappingFileLockException byThisProcess) {
      return false;
    }
  }

  /** Listens on such a port of the loopback address: nothing has it once this is closed. */
  static ServerSocket listen(int backlog) {
    while (true) {
      try {
        return new ServerSocket(next(), backlog, InetAddress.getLoopbackAddress());
      } catch (IOException taken) {
        // By another program, since it was looked at.
        continue;
      }
    }
  }
}
