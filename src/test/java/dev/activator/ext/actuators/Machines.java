package dev.activator.ext.actuators;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** An API that starts and stops machines, with an answer for each path. */
final class Machines implements AutoCloseable {
  /** What bodies have, and nobody may see. */
  static final String BODY = "internal details";

  private final HttpServer server;
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final Map<String, Integer> statuses = new ConcurrentHashMap<>();
  private volatile String retryAfter = "";
  private volatile Runnable onCall = () -> {
  };

  Machines() throws IOException {
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      calls.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath()
          + (exchange.getRequestHeaders().containsKey("Authorization")
              ? " " + exchange.getRequestHeaders().getFirst("Authorization")
              : ""));
      onCall.run();
      exchange.getResponseHeaders().set("Location", url("/elsewhere"));
      exchange.getResponseHeaders().set("Retry-After", retryAfter);
      var body = BODY.getBytes();
      exchange.sendResponseHeaders(statuses.getOrDefault(exchange.getRequestURI().getPath(), 200),
          body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  void answer(String path, int status) {
    statuses.put(path, status);
  }

  void retryAfter(String seconds) {
    retryAfter = seconds;
  }

  /** Runs it before each answer. */
  void onCall(Runnable task) {
    onCall = task;
  }

  List<String> calls() {
    return calls;
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
