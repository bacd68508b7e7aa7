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
   * Opens one after the other.
   *
   * @param headers of the request, as options of wrk
   */
  static IdleConnections open(int count, int port, List<String> headers) throws IOException {
    var request = new StringBuilder("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    headers.stream().filter(text -> !text.equals("-H"))
        .forEach(text -> request.append(text).append("\r\n"));
    var bytes = request.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII);
    var connections = new IdleConnections();
    var answer = ByteBuffer.allocate(4096);
    for (int i = 0; i < count; i++) {
      var connection = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      connections.open.add(connection);
      connection.write(ByteBuffer.wrap(bytes));
      if (connection.read(answer.clear()) < 0) {
        throw new IOException("connection " + i + " was closed");
      }
    }
    return connections;
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
