#!/usr/bin/env bash
# java.net.http.HttpClient of JDK 25 (25.0.3), and connections that a server keeps for a short time.
#
# The guess: it keeps to "Keep-Alive: timeout=N" of a server, as HttpURLConnection of the same JDK does. If a kept connection is closed
# without a response, it sends requests again whose methods are idempotent: GET, HEAD, PUT, DELETE, OPTIONS.
#
# What it does: the server's timeout is ignored: the connection is used later, too. A GET and a HEAD are sent again; PUT, DELETE and
# OPTIONS fail, although they are as idempotent. Seen:
#   HttpClient after 2.5 s, server keeps for 1: the same connection
#   HttpURLConnection after 2.5 s, server keeps for 1: a new connection
#   closed without a response: GET sent 2 times, HEAD sent 2 times, PUT fails, DELETE fails, OPTIONS fails, POST fails
#
# Needs a JDK 25 in JAVA_HOME or the PATH. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Finding.java <<'JAVA'
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.atomic.AtomicInteger;

public class Finding {
  static final AtomicInteger seen = new AtomicInteger();

  /** Says which connection it is. The second request of one is not answered if its path is /cut. */
  static void serve(Socket connection) {
    try (connection) {
      var in = new BufferedReader(new InputStreamReader(connection.getInputStream()));
      for (int number = 1;; number++) {
        var start = in.readLine();
        if (start == null) {
          return;
        }
        for (var line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
        }
        if (start.contains(" /cut ")) {
          seen.incrementAndGet();
          if (number == 2) {
            return;
          }
        }
        var body = start.startsWith("HEAD") ? "" : "" + connection.getPort();
        connection.getOutputStream().write(("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=1\r\nContent-Length: "
            + body.length() + "\r\n\r\n" + body).getBytes());
      }
    } catch (IOException e) {
      // The client has gone.
    }
  }

  static String get(HttpClient client, URI uri) throws Exception {
    return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
  }

  static String get(URI uri) throws Exception {
    try (var in = uri.toURL().openStream()) {
      return new String(in.readAllBytes());
    }
  }

  public static void main(String[] args) throws Exception {
    var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().start(() -> {
      while (true) {
        try {
          var connection = server.accept();
          Thread.ofPlatform().daemon().start(() -> serve(connection));
        } catch (IOException e) {
          return;
        }
      }
    });
    var uri = URI.create("http://127.0.0.1:" + server.getLocalPort() + "/");
    var client = HttpClient.newHttpClient();
    var first = get(client, uri);
    var old = get(uri);
    Thread.sleep(2500);
    System.out.println("HttpClient after 2.5 s, server keeps for 1: " + (first.equals(get(client, uri)) ? "the same" : "a new") + " connection");
    System.out.println("HttpURLConnection after 2.5 s, server keeps for 1: " + (old.equals(get(uri)) ? "the same" : "a new") + " connection");
    var outcomes = new StringBuilder();
    for (var method : new String[] {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "POST"}) {
      var one = HttpClient.newHttpClient();
      get(one, uri);
      seen.set(0);
      outcomes.append(outcomes.isEmpty() ? "" : ", ").append(method);
      try {
        one.send(HttpRequest.newBuilder(uri.resolve("/cut")).method(method, BodyPublishers.noBody()).build(), BodyHandlers.ofString());
        outcomes.append(" sent " + seen + " times");
      } catch (IOException e) {
        outcomes.append(" fails");
      }
    }
    System.out.println("closed without a response: " + outcomes);
    System.exit(0);
  }
}
JAVA
"${JAVA_HOME:+$JAVA_HOME/bin/}java" Finding.java | tee seen
diff seen - <<'EXPECTED'
HttpClient after 2.5 s, server keeps for 1: the same connection
HttpURLConnection after 2.5 s, server keeps for 1: a new connection
closed without a response: GET sent 2 times, HEAD sent 2 times, PUT fails, DELETE fails, OPTIONS fails, POST fails
EXPECTED
