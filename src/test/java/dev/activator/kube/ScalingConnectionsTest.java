package dev.activator.kube;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which requests share a connection and a limit, seen by a server that counts both. */
class ScalingConnectionsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment",
      "web");
  private static final Duration TIMEOUT = Duration.ofSeconds(120);
  private static final String APPS = """
      {"kind": "APIResourceList", "resources": [
       {"name": "deployments", "kind": "Deployment", "namespaced": true},
       {"name": "deployments/scale", "kind": "Scale", "namespaced": true}]}
      """;
  private static final String SCALE = """
      {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 1}}
      """;

  private final HttpServer server;
  private final VirtualLoop clock = VirtualLoop.nearOverflow();
  private final Map<Integer, String> connections = new ConcurrentSkipListMap<>();
  private final List<String> writes = new CopyOnWriteArrayList<>();
  private final ScalingApiClients session;

  ScalingConnectionsTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> {
      var path = exchange.getRequestURI().getPath();
      var last = path.substring(path.lastIndexOf('/') + 1);
      connections.merge(exchange.getRemoteAddress().getPort(), last,
          (before, now) -> before.contains(now) ? before : before + " " + now);
      if (!exchange.getRequestMethod().equals("GET")) {
        writes.add(last + " " + exchange.getRequestURI().getQuery());
      }
      exchange.getRequestBody().readAllBytes();
      var body = (last.equals("v1") ? APPS : SCALE).getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, body.length);
      try (var out = exchange.getResponseBody()) {
        out.write(body);
      }
    });
    session = new ScalingApiClients(
        new ClusterAccess.At(URI.create("http://127.0.0.1:" + server.getAddress().getPort())),
        () -> new KubernetesWriteRateLimiter.Limit(2, 3).rate(clock), TIMEOUT);
  }

  @BeforeEach
  void open() {
    server.start();
    session.open();
  }

  @AfterEach
  void close() {
    session.close();
    server.stop(0);
  }

  private static <T> T result(CompletableFuture<T> future) throws Exception {
    return future.get(120, SECONDS);
  }

  private CompletableFuture<ScaleApiResult> write() {
    return session.scales().write(WEB, WORKLOAD, new ScaleApiResult.Found(1, 1, "1"), 2);
  }

  @Test
  void electionAndScalesAndEventsHaveAConnectionEach() throws Exception {
    for (int i = 0; i < 3; i++) {
      result(session.lease("system", "activator").read());
      result(session.scales().read(WEB, WORKLOAD));
    }
    result(session.events().write(new EventWriter.Regarding("v1", "Pod", "shop", "web", "u"),
        false, "Tested", "in a test"));

    assertThat(connections.values()).containsExactlyInAnyOrder("activator", "v1 scale",
        "events");
  }

  @Test
  void writesWaitForTheirTurn_andReadsDoNot() throws Exception {
    // given that the kind is known
    result(session.scales().read(WEB, WORKLOAD));
    var answers = new ArrayList<CompletableFuture<ScaleApiResult>>();
    for (int i = 0; i < 6; i++) {
      answers.add(write());
    }
    for (var first : answers.subList(0, 3)) {
      assertThat(result(first)).isInstanceOf(ScaleApiResult.Found.class);
    }
    result(session.scales().read(WEB, WORKLOAD));
    assertThat(writes).hasSize(3);
    assertThat(answers.get(3)).isNotDone();

    // when half a second has passed twice
    clock.advance(Duration.ofMillis(500));
    result(answers.get(3));
    assertThat(writes).hasSize(4);
    clock.advance(Duration.ofMillis(500));
    result(answers.get(4));
    assertThat(writes).hasSize(5);

    // then the server is given what was left of the timeout
    assertThat(writes).last().isEqualTo("scale timeout=119000ms");
  }

  @Test
  void aWriteWhoseTurnComesTooLateIsNotSent() throws Exception {
    result(session.scales().read(WEB, WORKLOAD));
    for (int i = 0; i < 3; i++) {
      result(write());
    }
    var last = write();

    // when the loop stands still: each look at its clock takes longer than the timeout
    clock.readingsTake(TIMEOUT.toNanos());
    clock.advance(Duration.ofMillis(500));

    assertThat(result(last)).isInstanceOf(Refused.class);
    assertThat(writes).hasSize(3);
  }

  @Test
  void aWriteThatWouldWaitForLongerThanItsTimeoutIsNotSent() throws Exception {
    result(session.scales().read(WEB, WORKLOAD));
    for (int i = 0; i < 3 + 2 * TIMEOUT.toSeconds() - 1; i++) {
      write();
    }
    assertThat(result(write())).isInstanceOfSatisfying(Refused.class,
        refused -> assertThat(refused.message()).contains("-kube-api-qps allows no write"));
    await().until(() -> writes.size() == 3);
  }
}
