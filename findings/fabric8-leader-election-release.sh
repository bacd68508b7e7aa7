#!/usr/bin/env bash
# kubernetes-client 8.0.0 (io.fabric8, Java): a leader that gives up its Lease (releaseOnCancel).
#
# The guess: as with client-go's ReleaseOnCancel, the Lease afterwards has no holder (holderIdentity is empty or gone), so that any
# other candidate, of whatever library, takes it with its next try.
#
# What it does: the record is made without a holder and with leaseDurationSeconds 1, but the Lease is then sent as a
# merge patch, which a field that is left out does not change. So the name of the process that has gone stays, as if it still led, with
# a lease of one second. Each other candidate has to see that nothing renews it first. Seen, as what is sent when the leader is cancelled:
#   PATCH application/merge-patch+json; charset=utf-8 {...,"spec":{"acquireTime":"TIME","leaseDurationSeconds":1,"leaseTransitions":1,"renewTime":"TIME"}}
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
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public class Finding {
  /** A Lease that another process, whose lease has ended, held before. */
  private static final String LEASE = """
      {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l", "namespace": "n", "resourceVersion": "7"},
       "spec": {"holderIdentity": "HOLDER", "leaseDurationSeconds": 3, "acquireTime": "2026-01-01T00:00:00.000000Z",
                "renewTime": "2026-01-01T00:00:00.000000Z", "leaseTransitions": 1}}""";

  public static void main(String[] args) throws Exception {
    List<String> sent = Collections.synchronizedList(new ArrayList<>());
    var led = new CountDownLatch(1);
    var api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext("/", exchange -> {
      var text = new String(exchange.getRequestBody().readAllBytes());
      if (!exchange.getRequestMethod().equals("GET")) {
        sent.add(exchange.getRequestMethod() + " " + exchange.getRequestHeaders().getFirst("Content-Type") + " " + text);
      }
      var body = LEASE.replace("HOLDER", led.getCount() == 0 ? "one" : "").getBytes();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    api.start();
    var config = Config.empty();
    config.setMasterUrl("http://127.0.0.1:" + api.getAddress().getPort());
    try (var client = new KubernetesClientBuilder().withConfig(config).build()) {
      var run = client.leaderElector().withConfig(new LeaderElectionConfigBuilder().withName("it").withLock(new LeaseLock("n", "l", "one"))
          .withLeaseDuration(Duration.ofSeconds(3)).withRenewDeadline(Duration.ofSeconds(2)).withRetryPeriod(Duration.ofMillis(500)).withReleaseOnCancel(true)
          .withLeaderCallbacks(new LeaderCallbacks(led::countDown, () -> {}, id -> {})).build()).build().start();
      led.await();
      Thread.sleep(300);
      sent.clear();
      run.cancel(true);
      Thread.sleep(700);
    }
    api.stop(0);
    sent.forEach(one -> System.out.println(one.replaceAll("20\\d\\d-[^\"]*Z", "TIME")));
    System.exit(0);
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java | tee seen
diff seen - <<'EXPECTED'
PATCH application/merge-patch+json; charset=utf-8 {"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l","namespace":"n","resourceVersion":"7"},"spec":{"acquireTime":"TIME","leaseDurationSeconds":1,"leaseTransitions":1,"renewTime":"TIME"}}
EXPECTED
