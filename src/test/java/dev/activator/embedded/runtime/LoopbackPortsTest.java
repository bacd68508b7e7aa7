package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoopbackPortsTest {
  private final LoopbackPorts ports = new LoopbackPorts(new Random());

  @Test
  void giveNoneOfThoseTheSystemGivesOutNorOfTheNodePorts() {
    for (int i = 0; i < 100; i++) {
      assertThat(ports.next()).isBetween(20_000, 29_999);
    }
  }

  @Test
  void giveNoPortTwiceInARow() {
    var given = new ArrayList<Integer>();
    for (int i = 0; i < 100; i++) {
      given.add(ports.next());
    }

    assertThat(given).doesNotHaveDuplicates();
  }

  @Test
  void passesOverAPortInUse() throws Exception {
    // given one that starts anywhere, and another program that listens on what it would give next
    int next = following(ports.next());
    try (var _ = listener(next)) {
      // when it is asked, then it gives another
      assertThat(ports.next()).isNotEqualTo(next);
    }
  }

  @Test
  void beginAtAnotherPlaceInEachProcess() {
    assertThat(new LoopbackPorts(new Random(1)).next())
        .isNotEqualTo(new LoopbackPorts(new Random(2)).next());
  }

  @Test
  void sayAtOnceWhatKeepsThemFromLooking() {
    // given a process that may open no more files
    var tried = new AtomicInteger();
    var outOfFiles = new LoopbackPorts(new Random(), port -> {
      tried.incrementAndGet();
      throw new SocketException("Too many open files");
    });

    assertThatThrownBy(outOfFiles::next).isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("Too many open files").hasCauseInstanceOf(SocketException.class);
    assertThat(tried).hasValue(1);
  }

  @Test
  void sayWhenAllAreTaken() {
    var taken = new LoopbackPorts(new Random(), port -> {
      throw new BindException("Address already in use");
    });

    assertThatThrownBy(taken::next).isInstanceOf(IllegalStateException.class)
        .hasMessage("no port of the loopback address from 20000 to 29999 is free");
  }

  private static int following(int port) {
    return port == 29_999 ? 20_000 : port + 1;
  }

  /** It may be taken already, by another program: that is as good. */
  private static AutoCloseable listener(int port) {
    try {
      return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
    } catch (IOException taken) {
      return () -> {
      };
    }
  }
}
