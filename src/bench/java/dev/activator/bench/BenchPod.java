package dev.activator.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A pod that answers each request, probes too, as a queue-proxy answers probes. */
final class BenchPod implements AutoCloseable {
  private static final byte[] ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue"
      .getBytes(StandardCharsets.US_ASCII);

  private final ServerSocket server = new ServerSocket();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  private BenchPod() throws IOException {}

  /** One that listens on every address of this machine; port 0 picks one. */
  static BenchPod listening(int port) throws IOException {
    var pod = new BenchPod();
    pod.server.setReuseAddress(true);
    pod.server.bind(new InetSocketAddress(port), 4096);
    Thread.ofPlatform().daemon().start(pod::accept);
    return pod;
  }

  int port() {
    return server.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        var socket = server.accept();
        socket.setTcpNoDelay(true);
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // By close.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      var in = new BufferedReader(
          new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.isEmpty()) {
          socket.getOutputStream().write(ANSWER);
        }
      }
    } catch (IOException ended) {
      // The activator closes what it does not need.
    } finally {
      open.remove(socket);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (var socket : open) {
      socket.close();
    }
  }
}
