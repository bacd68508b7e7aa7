package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.standalone.policy.TestReferences;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ScalingApiClients;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.loop.ThreadLoop;
import dev.activator.revision.RevisionId;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.SteppedLoop;
import dev.activator.testing.TestValues;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How often statuses are sent to an API that refuses them, over HTTP; time is moved by hand. */
class RefusedStatusesTest {
  private static final int OBJECTS = 20;

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ScalingApiClients session = new ScalingApiClients(
      new ClusterAccess.At(URI.create(api.url())), () -> KubernetesWriteRateLimiter.UNLIMITED,
      Duration.ofSeconds(120));
  private final ThreadLoop thread = new ThreadLoop("writer");
  private final SteppedLoop loop = new SteppedLoop(thread);
  private final ScaledServiceStatusWriter writer = new ScaledServiceStatusWriter(loop,
      session::records, InstantSource.system(),
      () -> true, new Random(1));

  @BeforeEach
  void start() {
    session.open();
    writer.start();
  }

  @AfterEach
  void close() {
    writer.stop();
    thread.close();
    session.close();
    api.close();
  }

  private static ResolvedScaledService state(String name) {
    return ResolvedScaledService.of(TestValues.scaledService(new RevisionId("shop", name), "",
        List.of(), List.of(), List.of()), TestReferences.to(null).found());
  }

  private int patches() {
    return api.faults().journal().calls(Match.requests(Verb.PATCH)).size();
  }

  /** How much time must pass until each status was sent this often, on average. */
  private Duration until(int writes) {
    await().pollInterval(Duration.ofMillis(20)).until(() -> {
      loop.advance(Duration.ofSeconds(1));
      return patches() >= writes * OBJECTS;
    });
    return Duration.ofNanos(loop.nanoTime());
  }

  @ParameterizedTest(name = "HTTP {0}: the sixth time after {1} s or later")
  @CsvSource({"401, 150", "403, 150", "404, 150", "422, 150", "503, 90"})
  void pausesBetweenRefusedWritesGrow(int status, int seconds) {
    api.faults().add(Match.requests(Verb.PATCH), Fault.Answer.status(status));
    for (int i = 0; i < OBJECTS; i++) {
      writer.changed(state("s" + i));
    }

    assertThat(until(6)).isGreaterThanOrEqualTo(Duration.ofSeconds(seconds));
  }

  @Test
  void waitsAsLongAsRetryAfterSays() {
    api.faults().add(Match.requests(Verb.PATCH),
        new Fault.Answer(429, "application/json", "{}", 40));
    for (int i = 0; i < OBJECTS; i++) {
      writer.changed(state("s" + i));
    }

    assertThat(until(3)).isGreaterThanOrEqualTo(Duration.ofSeconds(80));
  }

  @Test
  void aStatusDoesNotGetIntoAnObjectThatWasMadeAgainUnderTheName() {
    // given an object whose uid is not the one that is known here
    var store = api.store();
    ScaledServiceCrd.createIn(store);
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'a'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 20}}}
        """));

    writer.changed(state("a"));

    var journal = api.faults().journal();
    var call = journal.await(Match.requests(Verb.PATCH), 1, Duration.ofSeconds(120));
    assertThat(journal.awaitEnd(call, Duration.ofSeconds(120)).outcome().status()).isEqualTo(409);
    assertThat(store.find(ScaledServiceCrd.of(store), "shop", "a").at("/status/conditions"))
        .isEmpty();
  }

  @Test
  void doesNotWaitAtTheEndForWhatIsRefused() {
    api.faults().add(Match.requests(Verb.PATCH), Fault.Answer.status(403));
    writer.changed(state("a"));
    await().until(() -> patches() == 1);
    await().untilAsserted(() -> {
      loop.advance(Duration.ofMillis(10));
      assertThat(writer.finish()).succeedsWithin(Duration.ofSeconds(60));
    });
    assertThat(patches()).isEqualTo(1);
  }
}
