package dev.activator.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Connections that had one request each, and are kept open until all are closed. */
final class IdleConnections implements AutoCloseable {
  private final List<SocketChannel> open = new ArrayList<>();

  private IdleConnections() {}

  /**
   * Opens one after the other, each once the one before has its answer.
   *
   * @param headers of the request
   */
  static IdleConnections open(int count, int port, List<String> headers) throws IOException {
    var connections = waiting(0, port, headers);
    var answer = ByteBuffer.allocate(4096);
    for (int i = 0; i < count; i++) {
      if (connections.add(port, request(headers)).read(answer.clear()) < 0) {
        throw new IOException("connection " + i + " was closed");
      }
    }
    return connections;
  }

  /** Opens connections whose requests nobody waits for. */
  static IdleConnections waiting(int count, int port, List<String> headers) throws IOException {
    var connections = new IdleConnections();
    for (int i = 0; i < count; i++) {
      connections.add(port, request(headers));
    }
    return connections;
  }

  private SocketChannel add(int port, ByteBuffer request) throws IOException {
    var connection = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
    open.add(connection);
    connection.write(request);
    return connection;
  }

  private static ByteBuffer request(List<String> headers) {
    var request = new StringBuilder("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    headers.forEach(text -> request.append(text).append("\r\n"));
    return ByteBuffer.wrap(request.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII));
  }

  int count() {
    return open.size();
  }

  @Override
  public void close() throws IOException {
    for (var connection : open) {
      connection.close();
    }
  }
}
