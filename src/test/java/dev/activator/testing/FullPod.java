package dev.activator.testing;

import dev.activator.revision.Destination;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/**
 * A pod whose queue of connections to accept is full, so that it drops new ones: a client hears
 * nothing, as from one whose node is gone.
 */
public final class FullPod implements Closeable {
  private static final int TIMEOUT_MILLIS = 300;

  private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final List<Socket> waiting = new ArrayList<>();

  public FullPod() throws IOException {
    var socket = new Socket();
    while (connects(socket)) {
      waiting.add(socket);
      socket = new Socket();
    }
    socket.close();
  }

  private boolean connects(Socket socket) throws IOException {
    try {
      socket.connect(server.getLocalSocketAddress(), TIMEOUT_MILLIS);
      return true;
    } catch (SocketTimeoutException full) {
      return false;
    }
  }

  public Destination destination() {
    return new Destination("127.0.0.1", server.getLocalPort());
  }

  /** Makes room, and returns the first connection that comes then. */
  public RawPeer accept() throws IOException {
    for (int i = 0; i < waiting.size(); i++) {
      server.accept().close();
    }
    return new RawPeer(server.accept());
  }

  @Override
  public void close() throws IOException {
    for (var socket : waiting) {
      socket.close();
    }
    server.close();
  }
}
