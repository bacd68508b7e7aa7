package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** With real processes. */
class LocalCallerLookupTest {
  private static final String BASH = "/bin/bash";

  private final long own = ProcessHandle.current().pid();

  /** Where the pod listens that a process with this variable is of, once it has connected. */
  private static int podPort(String pod) throws Exception {
    assumeTrue(Files.isExecutable(Path.of(BASH)) && Files.isDirectory(Path.of("/proc/self/fd")));
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      // A child has the connection, as where a shell starts the program.
      var builder = new ProcessBuilder(List.of(BASH, "-c",
          "(exec 3<>/dev/tcp/127.0.0.1/" + server.getLocalPort() + "; read -u 3 line); true"));
      builder.environment().put(LocalProcess.POD_VARIABLE, pod);
      var process = builder.start();
      try (Socket connection = server.accept()) {
        return new LocalCallerLookup(System::nanoTime).podPort(connection.getPort());
      } finally {
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
      }
    }
  }

  @Test
  void aConnectionIsOfThePodWhoseProcessHasIt() throws Exception {
    assertThat(podPort(own + "/default/web-x7/25241")).isEqualTo(25_241);
  }

  @Test
  void aProcessOfAnotherActivatorIsNoPodOfOurs() throws Exception {
    assertThat(podPort(own + 1 + "/default/web-x7/25241")).isZero();
  }

  @Test
  void aPortWithoutAConnectionIsOfNoPod() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(new LocalCallerLookup(System::nanoTime).podPort(server.getLocalPort())).isZero();
    }
  }

  /** They are made on an event loop, and take longer the more connections there are. */
  @Test
  void lookupsTakeATwentiethOfTheTimeAfterABurst() {
    var now = new AtomicLong(Long.MAX_VALUE - 1_000_000_000);
    var lookups = new AtomicInteger();
    var callers = new LocalCallerLookup(now::get, port -> {
      now.addAndGet(40_000_000);
      return lookups.incrementAndGet();
    });

    IntStream.range(0, 1_000).forEach(callers::podPort);
    assertThat(lookups.get()).isEqualTo(3);

    for (int second = 0; second < 100; second++) {
      now.addAndGet(1_000_000_000);
      callers.podPort(1);
    }
    assertThat(lookups.get()).isBetween(100, 104);

    lookups.set(0);
    for (int i = 0; i < 1_000; i++) {
      now.addAndGet(100_000_000);
      callers.podPort(1);
    }
    assertThat(lookups.get()).as("in 105 s, of 40 ms each").isBetween(125, 140);
  }
}
