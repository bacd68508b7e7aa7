#!/usr/bin/env bash
# camel-kubernetes 4.18.0 (Apache Camel, Maven Central), and a leader whose Lease has expired.
#
# The guess: with LeaseResourceType.Lease, its leader election is that of Kubernetes: a candidate takes a Lease whose renewTime is further
# in the past than its leaseDurationSeconds, whatever has become of the holder; as client-go, fabric8 and the Java client do. A Lease that
# was renewed a moment ago it leaves alone.
#
# What it does: it reads neither field. The holder leads for as long as the list of pods has a running pod of its name, so a
# CamelContext that was stopped, or hangs, in a pod that runs on leads for ever, as stopping does not release the Lease, either, and is
# reported as the leader to all. Once the pod is not in the list, a Lease is taken although it was renewed just now. Seen:
#   renewed 3600 s ago for 1 s, the holder's pod runs: leader is other, 0 writes of the Lease, holder after the stop is other
#   renewed 0 s ago for 3600 s, the holder's pod is not listed: leader is me, written, holder after the stop is me
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
    <dependency><groupId>org.apache.camel</groupId><artifactId>camel-kubernetes</artifactId><version>4.18.0</version></dependency>
    <dependency><groupId>org.apache.camel</groupId><artifactId>camel-core</artifactId><version>4.18.0</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.camel.cluster.CamelClusterMember;
import org.apache.camel.component.kubernetes.cluster.KubernetesClusterService;
import org.apache.camel.component.kubernetes.cluster.LeaseResourceType;
import org.apache.camel.impl.DefaultCamelContext;

public class Finding {
  static final String POD = "{\"metadata\":{\"name\":\"%s\"},\"status\":{\"phase\":\"Running\",\"conditions\":"
      + "[{\"type\":\"Ready\",\"status\":\"True\"}],\"containerStatuses\":[{\"name\":\"c\",\"ready\":true}]}}";

  public static void main(String[] args) throws Exception {
    boolean first = row(3600, 1, true, "other", false);
    boolean second = row(0, 3600, false, "me", true);
    System.exit(first && second ? 0 : 1);
  }

  static boolean row(int renewedAgo, int duration, boolean holderRuns, String expected, boolean written) throws Exception {
    var renewed = Instant.now().minusSeconds(renewedAgo).truncatedTo(ChronoUnit.MICROS);
    var lease = new AtomicReference<>(("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"leaders-group\","
        + "\"namespace\":\"default\",\"resourceVersion\":\"1\"},\"spec\":{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":%d,"
        + "\"acquireTime\":\"%s\",\"renewTime\":\"%s\",\"leaseTransitions\":1}}").formatted(duration, renewed, renewed));
    var writes = new AtomicInteger();
    var looks = new AtomicInteger();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      var body = new String(exchange.getRequestBody().readAllBytes());
      boolean pods = exchange.getRequestURI().getPath().endsWith("/pods");
      if (pods) {
        looks.incrementAndGet();
      } else if (!exchange.getRequestMethod().equals("GET")) {
        writes.incrementAndGet();
        lease.set(body);
      }
      var answer = pods
          ? "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[" + (holderRuns ? POD.formatted("other") + "," : "") + POD.formatted("me") + "]}"
          : lease.get();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.getBytes().length);
      exchange.getResponseBody().write(answer.getBytes());
      exchange.close();
    });
    server.start();
    System.setProperty("kubernetes.master", "http://127.0.0.1:" + server.getAddress().getPort());
    System.setProperty("kubernetes.namespace", "default");
    System.setProperty("kubernetes.auth.tryKubeConfig", "false");
    var context = new DefaultCamelContext();
    var service = new KubernetesClusterService();
    service.setLeaseResourceType(LeaseResourceType.Lease);
    service.setPodName("me");
    service.setClusterLabels(Map.of("app", "mine"));
    service.setRetryPeriodMillis(100);
    service.setRenewDeadlineMillis(700);
    service.setLeaseDurationMillis(1000);
    context.addService(service);
    context.start();
    var view = service.getView("group");
    view.addEventListener((org.apache.camel.cluster.CamelClusterEventListener.Leadership) (changed, leader) -> { });
    while (looks.get() < 50) {
      Thread.sleep(50);
    }
    var leader = view.getLeader().map(CamelClusterMember::getId).orElse("none");
    context.stop();
    server.stop(0);
    var holder = lease.get().replaceAll("(?s).*\"holderIdentity\":\"([^\"]*)\".*", "$1");
    System.out.printf("renewed %d s ago for %d s, the holder's pod %s: leader is %s, %s, holder after the stop is %s%n", renewedAgo, duration,
        holderRuns ? "runs" : "is not listed", leader, writes.get() == 0 ? "0 writes of the Lease" : "written", holder);
    return leader.equals(expected) && holder.equals(expected) && writes.get() > 0 == written;
  }
}
JAVA
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -cp "$(cat classpath)" Finding.java
