#!/usr/bin/env bash
# OkHttp 5.5.0 (com.squareup.okhttp3, JVM) and a POST that was answered with 408 or 503.
#
# The guess: once a response to a POST has come, OkHttp returns it; only what failed with its connection is sent again.
#
# What it does, seen with 5.5.0 on Java 17 (requests that the server read, and the status that the caller got):
#   POST, 408:                       2 requests, 408     (the whole body again, on a kept or a new connection)
#   POST, 408 with Retry-After: 5:   1 request, 408
#   POST, 503:                       1 request, 503
#   POST, 503 with Retry-After: 0:   2 requests, 503
#   POST, 408, then 200:             2 requests, 200     (the caller sees no 408)
#
# So a gateway that says "Retry-After: 0" in a 503, or that gave up on a response with 408, has the program run twice.
#
# Needs Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.squareup.okhttp3</groupId><artifactId>okhttp-jvm</artifactId><version>5.5.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;

public class Finding {
  static boolean changed;

  public static void main(String[] args) throws Exception {
    row("POST, 408", 408, 408, null, "2 requests, 408");
    row("POST, 408 with Retry-After: 5", 408, 408, "5", "1 requests, 408");
    row("POST, 503", 503, 503, null, "1 requests, 503");
    row("POST, 503 with Retry-After: 0", 503, 503, "0", "2 requests, 503");
    row("POST, 408, then 200", 408, 200, null, "2 requests, 200");
    System.exit(changed ? 1 : 0);
  }

  static void row(String what, int first, int then, String retryAfter, String expected) throws Exception {
    var requests = new AtomicInteger();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      if (new String(exchange.getRequestBody().readAllBytes()).equals("order")) {
        requests.incrementAndGet();
      }
      if (retryAfter != null) {
        exchange.getResponseHeaders().set("Retry-After", retryAfter);
      }
      exchange.sendResponseHeaders(requests.get() == 1 ? first : then, -1);
      exchange.close();
    });
    server.start();
    var client = new OkHttpClient();
    var request = new Request.Builder().url("http://localhost:" + server.getAddress().getPort() + "/")
        .post(RequestBody.create("order".getBytes())).build();
    int status;
    try (var response = client.newCall(request).execute()) {
      status = response.code();
    }
    server.stop(0);
    client.dispatcher().executorService().shutdown();
    client.connectionPool().evictAll();
    var seen = requests.get() + " requests, " + status;
    System.out.println(what + ": " + seen);
    changed |= !seen.equals(expected);
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat classpath)" Finding.java
