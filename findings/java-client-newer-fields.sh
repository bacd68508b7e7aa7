#!/usr/bin/env bash
# Kubernetes' client for Java 26.0.0 (Maven Central, io.kubernetes:client-java), made for Kubernetes 1.35, and a Pod with a field of 1.36.
#
# The guess: as in client-go, a field that the client does not know yet is ignored: an API server may be newer than its clients, and new
# optional fields are a compatible change in Kubernetes' API.
#
# What it does: each object is compared with the generated model, and a field that is not in it is an IllegalArgumentException. One such
# Pod makes the list of all Pods fail. Seen:
#   two Pods: [a, b]
#   one of them with spec.schedulingGroup: IllegalArgumentException: The field `schedulingGroup` in the JSON string is not defined in the `V1PodSpec` properties.
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
    <dependency><groupId>io.kubernetes</groupId><artifactId>client-java</artifactId><version>26.0.0</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.util.ClientBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;

public class Finding {
  public static void main(String[] args) throws Exception {
    show("two Pods", "");
    show("one of them with spec.schedulingGroup", ", \"schedulingGroup\": {\"podGroupName\": \"g\"}");
    System.exit(0);
  }

  static void show(String what, String more) throws Exception {
    String pod = "{\"metadata\": {\"name\": \"%s\"}, \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"i\"}]%s}}";
    byte[] list = ("{\"apiVersion\": \"v1\", \"kind\": \"PodList\", \"metadata\": {}, \"items\": ["
        + pod.formatted("a", "") + ", " + pod.formatted("b", more) + "]}").getBytes();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/api/v1/namespaces/n/pods", exchange -> {
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, list.length);
      exchange.getResponseBody().write(list);
      exchange.close();
    });
    server.start();
    var api = new CoreV1Api(new ClientBuilder().setBasePath("http://127.0.0.1:" + server.getAddress().getPort()).build());
    try {
      System.out.println(what + ": " + api.listNamespacedPod("n").execute().getItems().stream()
          .map(each -> each.getMetadata().getName()).toList());
    } catch (IllegalArgumentException e) {
      System.out.println(what + ": IllegalArgumentException: " + e.getMessage().replaceAll(" JSON:.*", ""));
    }
    server.stop(0);
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java 2> errors | tee seen
diff seen - <<'EXPECTED'
two Pods: [a, b]
one of them with spec.schedulingGroup: IllegalArgumentException: The field `schedulingGroup` in the JSON string is not defined in the `V1PodSpec` properties.
EXPECTED
