package dev.activator.proxy;

import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.SocketFactory;

/** What a Service is to callers: new connections go to those that are ready, each in its turn. */
final class ReadyActivators {
  /** A connection that its caller keeps. */
  record Kept(Activator activator, RawPeer peer) {}

  private final List<Activator> ready = new ArrayList<>();
  private final Map<Activator, AtomicInteger> kept = new ConcurrentHashMap<>();
  private int turn;

  synchronized void ready(Activator activator) {
    ready.add(activator);
    kept.put(activator, new AtomicInteger());
  }

  /** No connection goes there any more once this returns. */
  synchronized void unready(Activator activator) {
    ready.remove(activator);
  }

  synchronized Kept connect() throws IOException {
    var activator = next();
    kept.get(activator).incrementAndGet();
    return new Kept(activator, activator.connect());
  }

  void leave(Kept connection) throws IOException {
    connection.peer.close();
    kept.get(connection.activator).decrementAndGet();
  }

  /** How many connections to it are kept. */
  int kept(Activator activator) {
    return kept.get(activator).get();
  }

  private Activator next() {
    turn++;
    return ready.get(turn % ready.size());
  }

  private synchronized Socket open() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), next().port);
  }

  /** For clients that connect by themselves: whatever the address, it is that of the Service. */
  SocketFactory sockets() {
    return new SocketFactory() {
      @Override
      public Socket createSocket(String host, int port) throws IOException {
        return open();
      }

      @Override
      public Socket createSocket(String host, int port, InetAddress from, int fromPort)
          throws IOException {
        return open();
      }

      @Override
      public Socket createSocket(InetAddress host, int port) throws IOException {
        return open();
      }

      @Override
      public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort)
          throws IOException {
        return open();
      }
    };
  }
}
