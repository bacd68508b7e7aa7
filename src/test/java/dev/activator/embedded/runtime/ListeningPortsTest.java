package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ListeningPortsTest {
  @Test
  void areThoseOfTheProcessAndNotOfOthers() throws IOException {
    assumeTrue(Files.isDirectory(Path.of("/proc/self/fd")), "there is no /proc");
    long own = ProcessHandle.current().pid();
    var other = new ProcessBuilder("sleep", "1000").start();
    try (var listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(ListeningPorts.of(own)).contains(listening.getLocalPort());
      assertThat(ListeningPorts.of(other.pid())).isEmpty();
    } finally {
      other.destroyForcibly();
    }
  }

  @Test
  void areNoneOfAProcessThatIsGone() {
    assertThat(ListeningPorts.of(Integer.MAX_VALUE)).isEmpty();
  }
}
