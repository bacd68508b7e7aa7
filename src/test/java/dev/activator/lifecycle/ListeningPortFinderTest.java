package dev.activator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListeningPortFinderTest {
  @Test
  void areThoseOfTheProcessAndNotOfOthers() throws IOException {
    assumeTrue(Files.isDirectory(Path.of("/proc/self/fd")), "there is no /proc");
    long own = ProcessHandle.current().pid();
    var other = new ProcessBuilder("sleep", "1000").start();
    try (var listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(ListeningPortFinder.of(own)).contains(listening.getLocalPort());
      assertThat(ListeningPortFinder.of(other.pid())).isEmpty();
      assertThat(ListeningPortFinder.owner(listening.getLocalPort()))
          .contains(ProcessHandle.current());
    } finally {
      other.destroyForcibly();
    }
  }

  @Test
  void areNoneOfAProcessThatIsGone() {
    assertThat(ListeningPortFinder.of(Integer.MAX_VALUE)).isEmpty();
  }

  @Test
  void aFileThatIsClosedMeanwhileHidesNoSocket(@TempDir Path descriptors) throws IOException {
    for (int i = 0; i < 20; i++) {
      // What cannot be read as a link.
      Files.createFile(descriptors.resolve("a" + i));
      Files.createSymbolicLink(descriptors.resolve("s" + i), Path.of("socket:[" + i + "]"));
    }
    var inodes = new HashSet<String>();

    ListeningPortFinder.addSockets(descriptors, inodes);

    assertThat(inodes).hasSize(20).contains("0", "19");
  }
}
