package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.EventWriter.Regarding;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.TestValues;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Over HTTP, against the API of embedded mode. */
class EventWriterTest {
  private static final Regarding LEASE = new Regarding("coordination.k8s.io/v1", "Lease", "system",
      "activator", "uid-1");

  private final EmbeddedApi server = EmbeddedApi.start();
  private final KubernetesApiClient api = TestValues.kubernetesApi(
      KubernetesClientFactory.configured(new ClusterAccess.At(URI.create(server.url()))));
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final EventWriter events = new EventWriter(() -> api, () -> now);

  @AfterEach
  void close() {
    api.close();
    server.close();
  }

  private void write(Regarding about, String reason, String message) throws Exception {
    events.write(about, false, reason, message).get(120, TimeUnit.SECONDS);
  }

  private List<JsonNode> written() {
    return List.copyOf(server.store().list(BuiltInKinds.EVENT));
  }

  private List<String> counts() {
    return written().stream().map(one -> one.path("message").asString() + " "
        + one.path("count").asInt() + " " + one.path("lastTimestamp").asString()).sorted().toList();
  }

  @Test
  void anEventSaysWhichObjectItIsAbout() throws Exception {
    write(LEASE, "LeaderElected", "a became leader");

    var event = written().getFirst();
    assertThat(event.path("involvedObject").toString()).isEqualTo("{\"apiVersion\":"
        + "\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"namespace\":\"system\","
        + "\"name\":\"activator\",\"uid\":\"uid-1\"}");
    assertThat(event.at("/metadata/namespace").asString()).isEqualTo("system");
    assertThat(event.at("/metadata/name").asString()).startsWith("activator.");
    assertThat(event.path("type").asString()).isEqualTo("Normal");
    assertThat(event.path("reason").asString()).isEqualTo("LeaderElected");
    assertThat(event.path("firstTimestamp").asString()).isEqualTo("2026-01-01T00:00:00Z");
  }

  @Test
  void whatHappensAgainRaisesTheCountOfTheSameEvent() throws Exception {
    write(LEASE, "LeaderElected", "a became leader");
    now = now.plusSeconds(20);
    write(LEASE, "LeaderElected", "a became leader");
    assertThat(counts()).containsExactly("a became leader 1 2026-01-01T00:00:00Z");

    now = now.plusSeconds(45);
    write(LEASE, "LeaderElected", "a became leader");
    assertThat(counts()).containsExactly("a became leader 3 2026-01-01T00:01:05Z");
  }

  @Test
  void anotherNumberIsAnotherEventOnceAMinuteAtMost() throws Exception {
    write(LEASE, "ScaledUp", "0 to 1");
    now = now.plusSeconds(20);
    write(LEASE, "ScaledUp", "1 to 2");
    write(LEASE, "ScaledDown", "2 to 1");
    write(new Regarding("v1", "Lease", "system", "other", ""), "ScaledUp", "1 to 2");
    assertThat(counts()).containsExactly("0 to 1 1 2026-01-01T00:00:00Z",
        "1 to 2 1 2026-01-01T00:00:20Z", "2 to 1 1 2026-01-01T00:00:20Z");

    now = now.plusSeconds(60);
    write(LEASE, "ScaledUp", "1 to 5");
    assertThat(counts()).hasSize(4);
  }

  @Test
  void anotherTextIsAnotherEventAtOnce() throws Exception {
    write(LEASE, "HostTaken", "host a.example belongs to old");
    write(LEASE, "HostTaken", "host b.example belongs to old");

    assertThat(counts()).containsExactly(
        "host a.example belongs to old 1 2026-01-01T00:00:00Z",
        "host b.example belongs to old 1 2026-01-01T00:00:00Z");
  }

  @Test
  void oneThatHasExpiredOrMayNotBeChangedIsWrittenAgainWithItsCount() throws Exception {
    write(LEASE, "LeaderElected", "a became leader");
    var first = written().getFirst().at("/metadata/name").asString();
    server.store().delete(BuiltInKinds.EVENT, "system", first);
    now = now.plusSeconds(60);
    write(LEASE, "LeaderElected", "a became leader");
    assertThat(counts()).containsExactly("a became leader 2 2026-01-01T00:01:00Z");

    server.faults().add(Match.requests(Verb.PATCH), Fault.Answer.status(403));
    now = now.plusSeconds(60);
    write(LEASE, "LeaderElected", "a became leader");
    assertThat(counts()).containsExactly("a became leader 2 2026-01-01T00:01:00Z",
        "a became leader 3 2026-01-01T00:02:00Z");
  }

  @Test
  void isWrittenAgain_afterTheClockWasSetBack() throws Exception {
    write(LEASE, "LeaderElected", "a became leader");
    now = now.minusSeconds(3_600);

    write(LEASE, "LeaderElected", "a became leader");

    assertThat(counts()).singleElement().asString().contains("a became leader 2");
  }

  @Test
  void aServerThatFailsGetsNoSecondEvent() throws Exception {
    write(LEASE, "LeaderElected", "a became leader");
    server.faults().add(Match.requests(Verb.PATCH), Fault.Answer.status(503));
    now = now.plusSeconds(60);
    write(LEASE, "LeaderElected", "a became leader");

    assertThat(counts()).containsExactly("a became leader 1 2026-01-01T00:00:00Z");
  }

  @Test
  void oneThatIsLostHoldsNothingUp() throws Exception {
    server.close();

    write(LEASE, "LeaderElected", "a became leader");
  }
}
