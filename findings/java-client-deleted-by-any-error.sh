#!/usr/bin/env bash
# Kubernetes' client for Java 27.0.0 (Maven Central, io.kubernetes:client-java), and ResourceClient.waitUntilDeleted.
#
# The guess: it returns once the API server has answered 404. An answer that says nothing about the object, such as 429 of a busy API server,
# 503 of one that starts, or 403, is tried again until the timeout, or thrown; as kubectl wait --for=delete does.
#
# What it does: any answer that is no success counts as deleted, as do failed connections, and it returns at once. A program that then creates
# the object again, or removes what it used, does so while it is there. Seen:
#   200: TimeoutException
#   404: deleted, 1 request
#   403: deleted, 1 request
#   429: deleted, 1 request
#   503: deleted, 1 request
#   no server: deleted, 0 requests
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
    <dependency><groupId>io.kubernetes</groupId><artifactId>client-java</artifactId><version>27.0.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.ResourceClient;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

public class Finding {
  static final int NO_SERVER = 0;

  public static void main(String[] args) throws Exception {
    for (int status : new int[] {200, 404, 403, 429, 503, NO_SERVER}) {
      show(status);
    }
    System.exit(0);
  }

  static void show(int status) throws Exception {
    byte[] body = (status == 200
        ? "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"c\", \"namespace\": \"n\"}}"
        : "{\"apiVersion\": \"v1\", \"kind\": \"Status\", \"metadata\": {}, \"status\": \"Failure\", \"code\": " + status + "}").getBytes();
    var requests = new AtomicInteger();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/api/v1/namespaces/n/configmaps/c", exchange -> {
      requests.incrementAndGet();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    if (status == NO_SERVER) {
      server.stop(0);
    }
    var client = new ClientBuilder().setBasePath("http://127.0.0.1:" + server.getAddress().getPort()).build();
    String result;
    try {
      ResourceClient.create(client, V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps")
          .inNamespace("n").withName("c").waitUntilDeleted(Duration.ofMillis(1500));
      result = "deleted, " + requests + (requests.get() == 1 ? " request" : " requests");
    } catch (TimeoutException e) {
      result = "TimeoutException";
    }
    System.out.println((status == NO_SERVER ? "no server" : status) + ": " + result);
    server.stop(0);
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen || cat errors
diff seen - <<'EXPECTED'
200: TimeoutException
404: deleted, 1 request
403: deleted, 1 request
429: deleted, 1 request
503: deleted, 1 request
no server: deleted, 0 requests
EXPECTED
