package dev.activator.embedded.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Finds ports nobody listens on, for programs that must be told theirs before they start. */
final class FreePort {
  private FreePort() {}

  /** A port of the loopback address. The system gives others away before it repeats one. */
  static int next() {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException("no port of the loopback address is free", e);
    }
  }
}
