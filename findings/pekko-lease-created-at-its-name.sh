#!/usr/bin/env bash
# pekko-lease-kubernetes 1.1.1 (Maven Central, org.apache.pekko, Scala 2.13), and the request that creates a lease.
#
# The guess: it is a POST to the collection, .../leases, as Kubernetes' API describes it for every kind, and as its OpenAPI document has it.
# What answers on behalf of an API server (a mock, a proxy that allows methods by path, an aggregated API) needs no more than that.
#
# What it does: the POST goes to the path of the object that it creates, .../leases/NAME. kube-apiserver (1.36.2) takes that for a kind of
# a CustomResourceDefinition, which Pekko's lease is, with 201, and creates what the body names, whatever the path says. For built-in
# kinds, such as a ConfigMap, or a Lease of coordination.k8s.io, it answers 405. With a server that does so for every kind, no lease is
# ever taken. Seen:
#   GET .../leases/my-lease, POST .../leases/my-lease
#   answered with 201: acquired
#   answered with 405: LeaseException
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
    <dependency><groupId>org.apache.pekko</groupId><artifactId>pekko-lease-kubernetes_2.13</artifactId><version>1.1.1</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import com.typesafe.config.ConfigFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.coordination.lease.javadsl.LeaseProvider;

public class Finding {
  static final String LEASES = "/apis/pekko.apache.org/v1/namespaces/default/leases";
  static final String LEASE = "{\"apiVersion\":\"pekko.apache.org/v1\",\"kind\":\"Lease\",\"metadata\":"
      + "{\"name\":\"my-lease\",\"resourceVersion\":\"%s\"},\"spec\":{\"owner\":\"%s\",\"time\":1}}";

  public static void main(String[] args) throws Exception {
    System.exit(row(201, "acquired") & row(405, "LeaseException") ? 0 : 1);
  }

  static boolean row(int answer, String expected) throws Exception {
    var requests = new CopyOnWriteArrayList<String>();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      exchange.getRequestBody().readAllBytes();
      boolean post = exchange.getRequestMethod().equals("POST");
      requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath().replace(LEASES, ".../leases"));
      boolean known = exchange.getRequestMethod().equals("PUT") || post && answer == 201;
      var body = (known ? LEASE.formatted(post ? 1 : 2, post ? "" : "me")
          : "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"}").getBytes();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(post ? answer : known ? 200 : 404, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    var system = ActorSystem.create("finding", ConfigFactory.parseString(
        "pekko { loglevel = OFF, stdout-loglevel = OFF, coordination.lease.kubernetes { namespace = default, secure-api-server = false, "
            + "api-service-host = 127.0.0.1, api-service-port = " + server.getAddress().getPort() + ", lease-operation-timeout = 30s } }")
        .withFallback(ConfigFactory.load()));
    var lease = LeaseProvider.get(system).getLease("my-lease", "pekko.coordination.lease.kubernetes", "me");
    String seen;
    try {
      seen = lease.acquire().toCompletableFuture().get() ? "acquired" : "not acquired";
    } catch (ExecutionException e) {
      seen = e.getCause().getClass().getSimpleName();
    }
    system.terminate();
    server.stop(0);
    var first = List.copyOf(requests).subList(0, 2);
    System.out.println(String.join(", ", first));
    System.out.println("answered with " + answer + ": " + seen);
    return seen.equals(expected) && first.equals(List.of("GET .../leases/my-lease", "POST .../leases/my-lease"));
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat classpath)" Finding.java
