package dev.activator.embedded.runtime;

import dev.activator.revision.ReadinessProbe;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/** The readinessProbe of a container. */
record LocalProbe(ReadinessProbe form, Duration timeout, int successThreshold) {
  static LocalProbe of(JsonNode probe) {
    var form = probe.has("httpGet") ? httpGet(probe.path("httpGet")) : ReadinessProbe.CONNECT;
    return new LocalProbe(form, Duration.ofSeconds(upFromOne(probe, "timeoutSeconds")),
        upFromOne(probe, "successThreshold"));
  }

  private static ReadinessProbe httpGet(JsonNode get) {
    var headers = new TreeMap<String, String>();
    for (var header : get.path("httpHeaders")) {
      headers.put(header.path("name").stringValue(""), header.path("value").asString(""));
    }
    // The activator parses the same probe and logs which fields it ignores.
    return ReadinessProbe.httpGet(get.path("path").stringValue(""), headers, new ArrayList<>());
  }

  private static int upFromOne(JsonNode probe, String field) {
    return Math.clamp(probe.path(field).intValue(1), 1, 3600);
  }

  /** A connection is enough: containers that speak HTTP/2 do not answer HTTP/1.1. */
  LocalProbe connecting() {
    return new LocalProbe(ReadinessProbe.CONNECT, timeout, successThreshold);
  }

  /** Blocks. */
  boolean attempt(int port) {
    try (var socket = new Socket()) {
      return attempt(socket, port);
    } catch (IOException notReady) {
      return false;
    }
  }

  boolean attempt(Socket socket, int port) throws IOException {
    int millis = Math.toIntExact(timeout.toMillis());
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    socket.connect(address, millis);
    // Without a listener, a connection from this same port would connect to itself.
    if (address.equals(socket.getLocalSocketAddress())) {
      return false;
    }
    if (form.connects()) {
      return true;
    }
    socket.setSoTimeout(millis);
    socket.getOutputStream().write(request(port).getBytes(StandardCharsets.US_ASCII));
    var answer = new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1)).readLine();
    return answer != null && answer.matches("HTTP/1\\.[01] [23]\\d\\d( .*)?");
  }

  private String request(int port) {
    var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    headers.put("Host", "127.0.0.1:" + port);
    headers.put("User-Agent", "kube-probe/1.34");
    headers.putAll(form.headers());
    headers.put("Connection", "close");
    var request = new StringBuilder("GET " + form.path() + " HTTP/1.1\r\n");
    headers.forEach((name, value) -> request.append(name).append(": ").append(value)
        .append("\r\n"));
    return request.append("\r\n").toString();
  }
}
