package dev.activator.embedded.runtime.sidecar;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A process that holds every request until it is told to go on, and then answers all at once. */
final class SlowProcess implements AutoCloseable {
  private final AtomicInteger arrived = new AtomicInteger();
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final HttpServer server;

  SlowProcess() {
    try {
      server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  /** Requests that reached it so far. */
  int arrived() {
    return arrived.get();
  }

  void goOn() {
    goOn.countDown();
  }

  @Override
  public void close() {
    goOn();
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    arrived.incrementAndGet();
    try {
      goOn.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    byte[] body = "slow".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}
