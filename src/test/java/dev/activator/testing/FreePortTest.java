package dev.activator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Ports of tests that run at once, also in several processes. */
class FreePortTest {
  /** Of its own class loader, which has its own state as another process has. */
  private static Set<Integer> portsOfAnotherProcess(int count) throws Exception {
    URL[] classes = {FreePort.class.getProtectionDomain().getCodeSource().getLocation()};
    try (var loader = new URLClassLoader(classes, null)) {
      var next = loader.loadClass(FreePort.class.getName()).getMethod("next");
      var ports = new HashSet<Integer>();
      for (int i = 0; i < count; i++) {
        ports.add((Integer) next.invoke(null));
      }
      return ports;
    }
  }

  @Test
  void noTwoProcessesGetTheSamePort() throws Exception {
    var all = new ArrayList<Integer>();
    for (int process = 0; process < 8; process++) {
      all.addAll(portsOfAnotherProcess(300));
    }

    assertThat(all).hasSize(2_400).doesNotHaveDuplicates()
        .allMatch(port -> port >= 10_000 && port < 20_000);
  }
}
