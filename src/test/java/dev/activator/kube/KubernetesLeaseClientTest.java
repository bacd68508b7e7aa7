package dev.activator.kube;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.revision.LeaseClient.LeaseApiResult;
import dev.activator.revision.LeaseClient.LeaseRecord;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With a server whose answer to a read may come late, and which has no namespace to create a Lease in. */
class KubernetesLeaseClientTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(120);
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

  private final HttpServer server;
  private final ScalingApiClients session;
  private volatile String stored = """
      {"metadata": {"resourceVersion": "1", "labels": {"team": "a"}}, "spec": {}}
      """;
  private final CountDownLatch isRead = new CountDownLatch(1);
  private final CountDownLatch answers = new CountDownLatch(1);
  private volatile boolean late;

  KubernetesLeaseClientTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> {
      var sent = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      var answer = stored;
      int status = 200;
      if (exchange.getRequestMethod().equals("POST")) {
        status = 404;
        answer = """
            {"kind": "Status", "message": "namespaces \\"system\\" not found", "code": 404}
            """;
      } else if (exchange.getRequestMethod().equals("PUT")) {
        // The version is a number of one digit.
        int before = sent.indexOf("resourceVersion\":\"") + "resourceVersion\":\"".length();
        answer = sent.substring(0, before) + (char) (sent.charAt(before) + 1)
            + sent.substring(before + 1);
        stored = answer;
      } else if (late) {
        isRead.countDown();
        try {
          answers.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
      var body = answer.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, body.length);
      try (var out = exchange.getResponseBody()) {
        out.write(body);
      }
    });
    session = new ScalingApiClients(
        new ClusterAccess.At(URI.create("http://127.0.0.1:" + server.getAddress().getPort())),
        () -> KubernetesWriteRateLimiter.UNLIMITED, TIMEOUT);
  }

  @BeforeEach
  void open() {
    server.start();
    session.open();
  }

  @AfterEach
  void close() {
    answers.countDown();
    session.close();
    server.stop(0);
  }

  private static LeaseRecord found(CompletableFuture<LeaseApiResult> answer) throws Exception {
    return ((LeaseApiResult.Found) answer.get(TIMEOUT.toSeconds(), SECONDS)).lease();
  }

  private static LeaseRecord renewed(LeaseRecord before) {
    return new LeaseRecord("me", 15, 1, NOON, NOON, before.version());
  }

  @Test
  void aRenewalKeepsWhatOthersHaveSet_whenAnOlderReadIsAnsweredAfterTheLastOne() throws Exception {
    var lease = session.lease("system", "activator");
    var first = found(lease.read());

    // given a read that a confirmation makes, and a renewal that overtakes its answer
    late = true;
    var confirmation = lease.read();
    assertThat(isRead.await(TIMEOUT.toSeconds(), SECONDS)).isTrue();
    var second = found(lease.write(renewed(first)));
    answers.countDown();
    assertThat(found(confirmation).version()).isEqualTo(first.version());

    var third = found(lease.write(renewed(second)));

    assertThat(third.version()).isEqualTo("3");
    assertThat(stored).contains("\"team\":\"a\"");
  }

  @Test
  void failsToCreateALeaseWhoseNamespaceIsAbsent() throws Exception {
    var lease = new LeaseRecord("me", 15, 0, NOON, NOON, "");

    assertThat(session.lease("system", "activator").write(lease).get(TIMEOUT.toSeconds(), SECONDS))
        .isEqualTo(new LeaseApiResult.Failed(
            "the Lease system/activator: 404 namespaces \"system\" not found"));
  }
}
