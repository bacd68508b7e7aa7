package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.REVISION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.Addressing;
import dev.activator.backend.policy.MeshMode;
import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.loop.Loop;
import dev.activator.testing.VirtualLoop;
import dev.activator.revision.Protocol;
import dev.activator.revision.Revision;
import dev.activator.upstream.ProbeAnswer;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class HttpProberTest {
  /** Answers what it is told, and keeps what it was asked. */
  static final class ScriptedClient implements ProbeClient {
    final List<ProbeRequest> requests = new ArrayList<>();
    ProbeAnswer answer = new ProbeAnswer.Answered(200, "queue");

    @Override
    public void ask(Loop loop, ProbeRequest request, Consumer<ProbeAnswer> done) {
      requests.add(request);
      loop.execute(() -> done.accept(answer));
    }
  }

  private final VirtualLoop loop = new VirtualLoop();
  private final ScriptedClient client = new ScriptedClient();
  private final List<ProbeOutcome> outcomes = new ArrayList<>();

  private void probe(BackendSettings settings) {
    HttpProber.of(client, loop, Revision.of(REVISION, 1), settings).probe(A, outcomes::add);
    loop.run();
  }

  @Test
  void asksThePodAtItsAddress_RW28() {
    probe(BackendSettings.DEFAULT);

    assertThat(client.requests).containsExactly(
        new ProbeRequest(A, Protocol.HTTP1, "/healthz", "128.0.0.1:1234",
            Map.of("K-Network-Probe", "queue",
                "User-Agent", "Knative-Activator-Probe"),
            Duration.ofMillis(300)));
    assertThat(outcomes).containsExactly(FakePods.OK);
  }

  @Test
  void namesTheServiceWhereAMeshLetsPodsThrough_RW27() {
    probe(new BackendSettings(new Addressing(MeshMode.AUTO, true), Duration.ofSeconds(1),
        Duration.ofMillis(200), 500));

    assertThat(client.requests).containsExactly(new ProbeRequest(A, Protocol.HTTP1, "/healthz",
        "test-revision-private.test-namespace", Map.of("K-Network-Probe", "queue", "User-Agent",
            "Knative-Activator-Probe", "K-Passthrough-Lb", "true"),
        Duration.ofSeconds(1)));
  }

  @Test
  void takesNoAnswerForWhatItIs() {
    client.answer = new ProbeAnswer.Failed("connection refused");
    probe(BackendSettings.DEFAULT);

    assertThat(outcomes).containsExactly(FakePods.REFUSED);
  }
}
