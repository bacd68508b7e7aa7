package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The packaged jar in the place of Knative's activator, in as much of a cluster as it needs. */
class ManifestIT {
  private static final Duration LONG = Duration.ofMinutes(2);

  private Path directory;
  private FakeCluster cluster;
  private DeployedActivator activator;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(DeployedActivator.isPossible(),
        "needs setpriv, and a JDK that every user may read, to run as nobody");
    directory = Files.createTempDirectory("manifest");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    cluster = new FakeCluster();
    cluster.revision("hello");
    activator = DeployedActivator.start(directory, cluster.api.url(),
        Map.of("ACTIVATOR_CLUSTER_AUTOSCALER", cluster.autoscalerUrl()));
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      activator.close();
      cluster.close();
    }
  }

  @Test
  @DisplayName("becomes ready, serves from zero, follows its ConfigMaps, drains, ends with 0")
  void livesAsTheManifestHasIt() throws Exception {
    activator.ready();
    assertThat(activator.management("/actuator/health/liveness").statusCode()).isEqualTo(200);
    assertThat(activator.management("/actuator/health/readiness").statusCode()).isEqualTo(200);
    assertThat(activator.management("/console").statusCode()).isEqualTo(404);
    assertThat(activator.log()).contains("The console is at 127.0.0.1:");

    servesFromZero();
    followsItsConfigMaps();
    drains();
  }

  private void servesFromZero() throws Exception {
    var held = activator.askLater("hello", "/");
    await().until(() -> cluster.received.contains("hello"));
    assertThat(held).isNotDone();

    cluster.scaleUp("hello");
    var answer = held.get(2, TimeUnit.MINUTES);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("hello");
  }

  private void followsItsConfigMaps() throws Exception {
    assertThat(activator.profiling("/debug/pprof/").statusCode()).isEqualTo(404);

    cluster.configMap("config-observability", Map.of("runtime-profiling", "enabled"));
    await()
        .until(() -> activator.profiling("/debug/pprof/").statusCode() == 200);
    // it has no directory for the recording, and says so
    assertThat(activator.profiling("/debug/pprof/profile?seconds=1").body())
        .contains("temporary files");

    cluster.configMap("config-network", Map.of("system-internal-tls", "enabled"));
    cluster.configMap("config-network", Map.of("rollout-duration", "soon"));
    await().until(() -> activator.log().contains("rollout-duration is 'soon'"));
    assertThat(activator.log().lines().filter(line -> line.contains("ERROR"))).singleElement()
        .asString().contains("config-network");
    cluster.configMap("config-logging", Map.of("loglevel.activator", "debug"));
    await().until(() -> activator.log().contains("Logging from DEBUG on"));
  }

  private void drains() throws Exception {
    var slow = activator.askLater("hello", "/slow");
    assertThat(cluster.slowArrived.await(2, TimeUnit.MINUTES)).isTrue();
    await().until(() -> activator.log().contains("DEBUG"));
    var underWay = activator.askLater("hello", "/");
    assertThat(underWay.get(2, TimeUnit.MINUTES).statusCode()).isEqualTo(200);

    activator.terminate();

    var received = await().until(activator::probe, probe -> probe.statusCode() == 500);
    assertThat(received.body()).isEqualTo("received SIGTERM from kubelet\n");
    assertThat(activator.management("/actuator/health/readiness").body())
        .contains("received SIGTERM from kubelet");
    assertThat(activator.management("/actuator/health/liveness").statusCode()).isEqualTo(200);
    cluster.slow.countDown();
    assertThat(slow.get(2, TimeUnit.MINUTES).body()).isEqualTo("hello");
    assertThat(activator.exitCode()).isZero();
  }

  @Test
  @DisplayName("an autoscaler that is away costs no warm request, and gets what it missed")
  void anAutoscalerThatIsAwayCostsNoWarmRequest() throws Exception {
    activator.ready();
    cluster.scaleUp("hello");
    assertThat(activator.ask("hello", "/").statusCode()).isEqualTo(200);
    cluster.revision("other");

    cluster.autoscalerGoes();
    await().until(() -> activator.log().contains("is lost"));
    var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i < 500; i++) {
      answers.add(activator.askLater("hello", "/"));
      if (i % 10 == 9) {
        answers.getLast().get(2, TimeUnit.MINUTES);
      }
    }
    var cold = activator.askLater("other", "/");

    // then all are answered, and it stays ready
    for (var answer : answers) {
      assertThat(answer.get(2, TimeUnit.MINUTES).statusCode()).isEqualTo(200);
    }
    assertThat(activator.probe().statusCode()).isEqualTo(200);

    // when it is back, then it hears of the request that came meanwhile
    cluster.autoscalerComes();
    await().until(() -> cluster.received.contains("other"));
    cluster.scaleUp("other");
    assertThat(cold.get(2, TimeUnit.MINUTES).statusCode()).isEqualTo(200);
  }

  @Test
  @DisplayName("without an autoscaler from the start it serves after a while, and is alive all the time")
  void withoutAnAutoscalerItServesAfterAWhile() throws Exception {
    activator.close();
    cluster.autoscalerGoes();
    cluster.configMap("config-observability", Map.of("metrics-protocol", "prometheus"));
    cluster.scaleUp("hello");
    // given a third of a second for a minute: Knative's manifest restarts it after 135 s of that
    activator = DeployedActivator.start(directory, cluster.api.url(),
        Map.of("ACTIVATOR_CLUSTER_AUTOSCALER", cluster.autoscalerUrl(),
            "ACTIVATOR_READINESS_AUTOSCALERTIMEOUT", "333ms"));

    activator.ready();
    await().untilAsserted(
        () -> assertThat(activator.log()).contains("The autoscaler is not connected"));
    for (int i = 0; i < 100; i++) {
      assertThat(activator.ask("hello", "/").statusCode()).isEqualTo(200);
      assertThat(activator.probe().statusCode()).isEqualTo(200);
      assertThat(activator.management("/actuator/health/liveness").statusCode()).isEqualTo(200);
    }
    assertThat(activator.management("/metrics").body())
        .containsPattern("(?m)^activator_ready_without_autoscaler(\\{.*})? 1");
  }

  @Test
  @DisplayName("a second signal ends it at once with 1")
  void aSecondSignalEndsItAtOnce() throws Exception {
    activator.ready();
    cluster.scaleUp("hello");
    var slow = activator.askLater("hello", "/slow");
    assertThat(cluster.slowArrived.await(2, TimeUnit.MINUTES)).isTrue();
    activator.terminate();
    await()
        .untilAsserted(() -> assertThat(activator.log()).contains("Draining"));

    activator.terminate();

    assertThat(activator.exitCode()).isEqualTo(1);
    assertThat(slow).failsWithin(LONG);
  }

  @Test
  @DisplayName("a signal during the start ends it with 1")
  void aSignalDuringTheStartEndsIt() throws Exception {
    // an API that does not answer
    activator.close();
    try (var waiting = DeployedActivator.start(directory, "http://127.0.0.1:1", Map.of())) {
      await()
          .untilAsserted(() -> assertThat(waiting.log()).contains("trying again"));

      waiting.terminate();

      assertThat(waiting.exitCode()).isEqualTo(1);
      assertThat(waiting.log()).contains("while still starting");
    }
  }
}
