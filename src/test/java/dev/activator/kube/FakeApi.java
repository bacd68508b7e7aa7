package dev.activator.kube;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A Kubernetes API that says what it is told to, malformed or not: lists, watches over plain HTTP,
 * and refusals.
 */
public final class FakeApi implements AutoCloseable {
  public static final String ENDPOINTS = "/api/v1/endpoints";
  public static final String SERVICES = "/api/v1/services";
  public static final String REVISIONS = "/apis/serving.knative.dev/v1/revisions";
  private static final String END = "";
  private static final String EXPIRED = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
      + "\"apiVersion\":\"v1\",\"code\":410,\"reason\":\"Expired\","
      + "\"message\":\"too old resource version\"}}\n";

  /** What watches are told, and since when. */
  private record Event(long revision, String line) {}

  private final Map<String, Map<String, String>> objects = new HashMap<>();
  private final Map<String, List<BlockingQueue<String>>> watches = new HashMap<>();
  private final Map<String, List<Event>> history = new HashMap<>();
  private final Map<String, Long> forgotten = new HashMap<>();
  private final Map<String, Integer> refused = new ConcurrentHashMap<>();
  private final List<String> queries = new CopyOnWriteArrayList<>();
  private final HttpServer server;
  private volatile String version = "v1.34.0";
  private long revision = 100;

  public FakeApi() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/version",
        exchange -> send(exchange, "/version", "{\"gitVersion\":\"" + version + "\"}"));
    for (var path : List.of(ENDPOINTS, SERVICES, REVISIONS)) {
      objects.put(path, new TreeMap<>());
      watches.put(path, new ArrayList<>());
      history.put(path, new ArrayList<>());
      forgotten.put(path, 0L);
      server.createContext(path, exchange -> answer(path, exchange));
    }
    server.start();
  }

  public URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  public void hasVersion(String text) {
    version = text;
  }

  /** Answers this path with this status from now on. */
  public void refuses(String path, int status) {
    refused.put(path, status);
  }

  public void allows(String path) {
    refused.remove(path);
  }

  public List<String> queries() {
    return queries;
  }

  /** Adds an object, or changes the one of that name; {@code %d} stands for its version. */
  public synchronized void put(String path, String name, String yaml) {
    var json = Yaml.json(yaml.formatted(++revision));
    var before = objects.get(path).put(name, json);
    tell(path, before == null ? "ADDED" : "MODIFIED", json);
  }

  public synchronized void delete(String path, String name) {
    revision++;
    tell(path, "DELETED", objects.get(path).remove(name));
  }

  /** Removes an object while nobody looks: all watches must list again. */
  public synchronized void deleteUnseen(String path, String name) {
    revision++;
    objects.get(path).remove(name);
    forgotten.put(path, revision);
    history.get(path).clear();
    watches.get(path).forEach(watch -> watch.add(EXPIRED));
  }

  private void tell(String path, String type, String json) {
    var line = "{\"type\":\"" + type + "\",\"object\":" + json + "}\n";
    history.get(path).add(new Event(revision, line));
    watches.get(path).forEach(watch -> watch.add(line));
  }

  private void answer(String path, HttpExchange exchange) throws IOException {
    var query = String.valueOf(exchange.getRequestURI().getQuery());
    queries.add(path + "?" + query);
    if (!query.contains("watch=true")) {
      send(exchange, path, list(path));
    } else if (exchange.getRequestHeaders().containsKey("Upgrade")) {
      // No WebSocket here: this is how a client is told to use plain HTTP.
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    } else {
      watch(path, exchange, since(query));
    }
  }

  private static long since(String query) {
    return Long.parseLong(query.replaceAll(".*resourceVersion=(\\d+).*", "$1"));
  }

  private synchronized String list(String path) {
    return "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\""
        + revision + "\"},\"items\":[" + String.join(",", objects.get(path).values()) + "]}";
  }

  private void watch(String path, HttpExchange exchange, long since) throws IOException {
    var events = new LinkedBlockingQueue<String>();
    synchronized (this) {
      if (since < forgotten.getOrDefault(path, 0L)) {
        events.add(EXPIRED);
        events.add(END);
      }
      history.getOrDefault(path, List.of()).stream().filter(event -> event.revision() > since)
          .forEach(event -> events.add(event.line()));
      watches.get(path).add(events);
    }
    exchange.sendResponseHeaders(200, 0);
    try (var body = exchange.getResponseBody()) {
      body.flush();
      for (var event = events.take(); !event.equals(END); event = events.take()) {
        body.write(event.getBytes(StandardCharsets.UTF_8));
        body.flush();
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (this) {
        watches.get(path).remove(events);
      }
    }
  }

  private void send(HttpExchange exchange, String path, String json) throws IOException {
    int status = refused.getOrDefault(path, 200);
    var body = (status == 200 ? json : "{\"kind\":\"Status\",\"code\":" + status + "}")
        .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.length);
    try (var out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      watches.values().forEach(all -> all.forEach(watch -> watch.add(END)));
    }
    server.stop(0);
  }
}
