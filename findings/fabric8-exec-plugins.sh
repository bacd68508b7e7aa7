#!/usr/bin/env bash
# kubernetes-client 8.0.0 (io.fabric8, Java) and the exec plugins of a kubeconfig.
#
# The guess: a plugin gets KUBERNETES_EXEC_INFO, as the format of client.authentication.k8s.io/v1 promises it, with the
# cluster if provideClusterInfo is set; and if the plugin fails, no request is sent, as with kubectl.
#
# What it does, seen with 8.0.0 on Java 25 (OkHttp transport), one line each:
#   KUBERNETES_EXEC_INFO: unset                              (provideClusterInfo is true)
#   a plugin that fails: sent, Authorization: none           (its stderr is lost, and nothing is thrown)
#   a credential that has ended: runs for 3 requests: 1
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
    <dependency><groupId>io.fabric8</groupId><artifactId>kubernetes-client</artifactId><version>8.0.0</version>
      <exclusions><exclusion><groupId>io.fabric8</groupId><artifactId>kubernetes-httpclient-vertx-5</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>io.fabric8</groupId><artifactId>kubernetes-httpclient-okhttp</artifactId><version>8.0.0</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class Finding {
  public static void main(String[] args) throws Exception {
    List<String> seen = Collections.synchronizedList(new ArrayList<>());
    var api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext("/", exchange -> {
      var header = exchange.getRequestHeaders().getFirst("Authorization");
      seen.add(header == null ? "none" : header);
      var body = "{\"gitVersion\": \"v1.36.0\", \"major\": \"1\", \"minor\": \"36\"}".getBytes();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    api.start();
    int port = api.getAddress().getPort();

    ask(port, "printf '%s' \"${KUBERNETES_EXEC_INFO-unset}\" > info; " + credential("one", "2999-01-01T00:00:00Z"), 1);
    System.out.println("KUBERNETES_EXEC_INFO: " + Files.readString(Path.of("info")));

    seen.clear();
    var outcome = ask(port, "echo 'log in first' >&2; exit 1", 1);
    System.out.println("a plugin that fails: " + outcome + ", Authorization: " + String.join(", ", seen));

    ask(port, "echo run >> runs; " + credential("two", "2020-01-01T00:00:00Z"), 3);
    System.out.println("a credential that has ended: runs for 3 requests: " + Files.readAllLines(Path.of("runs")).size());
    System.exit(0);
  }

  static String credential(String token, String end) {
    return "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {\"token\": \""
        + token + "\", \"expirationTimestamp\": \"" + end + "\"}}'";
  }

  static String ask(int port, String script, int times) throws Exception {
    Files.writeString(Path.of("plugin"), script + "\n");
    var kubeconfig = """
        apiVersion: v1
        kind: Config
        current-context: c
        clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
        contexts: [{name: c, context: {cluster: c, user: u}}]
        users:
        - name: u
          user:
            exec:
              apiVersion: client.authentication.k8s.io/v1
              interactiveMode: Never
              provideClusterInfo: true
              command: sh
              args: [plugin]
        """.formatted(port);
    try (var client = new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig)).build()) {
      for (int i = 0; i < times; i++) {
        client.raw("/version");
      }
      return "sent";
    } catch (RuntimeException e) {
      return "refused (" + e.getMessage() + ")";
    }
  }
}
JAVA
export KUBECONFIG=/nonexistent
java=java
[ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
"$java" -cp "$(cat classpath)" Finding.java | tee seen
diff seen - <<'EXPECTED'
KUBERNETES_EXEC_INFO: unset
a plugin that fails: sent, Authorization: none
a credential that has ended: runs for 3 requests: 1
EXPECTED
