package dev.activator.embedded.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A plain HTTP client of one server. */
final class Wire implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
      .build();
  private final String url;
  private final int port;

  Wire(String url, int port) {
    this.url = url;
    this.port = port;
  }

  int port() {
    return port;
  }

  HttpResponse<String> get(String path, String... headers) {
    return send("GET", path, null, headers);
  }

  HttpResponse<String> post(String path, String body) {
    return send("POST", path, body, "Content-Type", "application/json");
  }

  /** Sends YAML as it is. */
  HttpResponse<String> yaml(String path, String body) {
    var request = HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE)
        .header("Content-Type", "application/yaml").POST(BodyPublishers.ofString(body));
    return exchange(request.build(), BodyHandlers.ofString());
  }

  HttpResponse<String> patch(String path, String type, String body) {
    return send("PATCH", path, body, "Content-Type", type);
  }

  /** Sends a request whose body has single quotes for double ones. */
  HttpResponse<String> send(String method, String path, String body, String... headers) {
    var publisher = body == null
        ? BodyPublishers.noBody()
        : BodyPublishers.ofString(body.replace('\'', '"'));
    var request = HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE)
        .method(method, publisher);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return exchange(request.build(), BodyHandlers.ofString());
  }

  /** Begins to read lines; the response has its head by then. */
  Lines lines(String path, String... headers) {
    var request = HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE);
    if (headers.length > 0) {
      request.headers(headers);
    }
    var response = exchange(request.build(), BodyHandlers.ofInputStream());
    return new Lines(response);
  }

  /** Sends exactly these bytes and returns the first line of the answer, empty for none. */
  String raw(String request) {
    try (var socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout((int) PATIENCE.toMillis());
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      var line = new BufferedReader(
          new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1)).readLine();
      return line == null ? "" : line;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Sends exactly these bytes, and returns all that comes until the server closes. */
  String rawAnswer(String request) {
    try (var socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout((int) PATIENCE.toMillis());
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      var answer = new ByteArrayOutputStream();
      try {
        socket.getInputStream().transferTo(answer);
      } catch (SocketException unread) {
        // The server ended the connection before it had read all.
      }
      return answer.toString(StandardCharsets.ISO_8859_1);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Asks for something and gets the bytes that came, compressed or not. */
  HttpResponse<byte[]> bytes(String path, String... headers) {
    var request = HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return exchange(request.build(), BodyHandlers.ofByteArray());
  }

  HttpClient client() {
    return client;
  }

  private <T> HttpResponse<T> exchange(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
    try {
      return client.sendAsync(request, handler).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (Exception failure) {
      throw new IllegalStateException(request + " failed", failure);
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }

  /** The lines of a response that goes on. */
  static final class Lines implements AutoCloseable {
    private static final String END = "the end";

    private final HttpResponse<InputStream> response;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    Lines(HttpResponse<InputStream> response) {
      this.response = response;
      Thread.ofVirtual().start(this::read);
    }

    private void read() {
      var text = new InputStreamReader(response.body(), StandardCharsets.ISO_8859_1);
      try {
        new BufferedReader(text).lines().forEach(lines::add);
      } catch (UncheckedIOException closed) {
        // The test has seen enough and closed the response.
      } finally {
        lines.add(END);
      }
    }

    HttpResponse<?> head() {
      return response;
    }

    /** The next line. */
    String next() {
      try {
        var line = lines.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(line).as("a line within %s", PATIENCE).isNotNull();
        return line;
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
    }

    /** Whether the response ends here. */
    boolean ends() {
      return next().equals(END);
    }

    @Override
    public void close() {
      try {
        response.body().close();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }
}
