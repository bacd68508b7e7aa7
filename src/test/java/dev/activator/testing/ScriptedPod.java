package dev.activator.testing;

import dev.activator.revision.Destination;
import java.io.Closeable;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/** A pod that follows a script, on each connection from its beginning. */
public final class ScriptedPod implements Closeable {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  /** What the pod does on one connection, which is closed after it. */
  @FunctionalInterface
  public interface Script {
    void serve(RawPeer caller) throws IOException;
  }

  @FunctionalInterface
  private interface Opening {
    RawPeer open(Socket socket) throws IOException;
  }

  private final ServerSocket server;
  private final Opening opening;
  private final Script script;
  private final Thread accepting;
  private final AtomicInteger connections = new AtomicInteger();
  private final List<RawPeer> callers = new CopyOnWriteArrayList<>();

  public ScriptedPod(Script script) throws IOException {
    this(RawPeer::new, script);
  }

  /** One that listens on this socket. */
  public ScriptedPod(ServerSocket server, Script script) {
    this(server, RawPeer::new, script);
  }

  private ScriptedPod(Opening opening, Script script) {
    // On a port of its own: once it is closed, another test's server must not come to listen there.
    this(FreePort.listen(1024), opening, script);
  }

  private ScriptedPod(ServerSocket server, Opening opening, Script script) {
    this.server = server;
    this.opening = opening;
    this.script = script;
    this.accepting = Thread.ofVirtual().start(this::accept);
  }

  /** Where no pod is: who connects is refused. */
  public static Destination nobody() {
    return new Destination("127.0.0.1", FreePort.next());
  }

  /**
   * One over TLS.
   *
   * @param shown asked for each connection
   * @param protocols that it chooses from, if it is asked to; none if it knows of no such questions
   */
  public static ScriptedPod overTls(Supplier<SSLContext> shown, Script script,
      String... protocols) throws IOException {
    return new ScriptedPod(socket -> RawPeer.overTls(socket, shown.get(), protocols), script);
  }

  /** One that answers each request with this, connection after connection. */
  public static ScriptedPod answering(String response) throws IOException {
    return new ScriptedPod(caller -> {
      while (true) {
        caller.readBody(caller.readHead());
        caller.send(response);
      }
    });
  }

  public Destination destination() {
    return new Destination(server.getInetAddress().getHostAddress(), server.getLocalPort());
  }

  /** How many connections were accepted, but for those that the other side gave up before it sent a request. */
  public int connections() {
    return connections.get();
  }

  private void accept() {
    try {
      while (true) {
        serve(server.accept());
      }
    } catch (IOException closed) {
      // Closed by the test.
    }
  }

  private void serve(Socket socket) {
    connections.incrementAndGet();
    Thread.ofVirtual().start(() -> {
      RawPeer opened = null;
      try (var caller = opening.open(socket)) {
        opened = caller;
        callers.add(caller);
        // Or close() has not seen it.
        if (!server.isClosed()) {
          script.serve(caller);
        }
      } catch (IOException ended) {
        // The other side ended it, which most scripts wait for.
        if (opened != null && !opened.received()) {
          connections.decrementAndGet();
        }
      }
    });
  }

  @Override
  public void close() throws IOException {
    server.close();
    awaitRefusal();
    for (var caller : callers) {
      sayEnd(caller);
      caller.close();
    }
  }

  /** At once: if a virtual thread reads from a socket, this thread is what closes it, some time after close. */
  private static void sayEnd(RawPeer caller) {
    try {
      caller.endOutput();
    } catch (IOException over) {
      // It has ended already.
    }
  }

  /** As long as a thread accepts, a closed server still listens. */
  private void awaitRefusal() {
    try {
      if (!accepting.join(PATIENCE)) {
        throw new AssertionError("a closed pod still accepts connections");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
