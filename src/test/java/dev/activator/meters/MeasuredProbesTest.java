package dev.activator.meters;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.Loop;
import dev.activator.observability.Meters;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.testing.Scrape;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class MeasuredProbesTest {
  private static final ProbeRequest QUESTION = new ProbeRequest(new Destination("10.0.0.1", 8012),
      PortProtocol.HTTP1, "/", "hello", Map.of(), ofMillis(300));

  private final Meters meters = new Meters();
  private final VirtualLoop loop = new VirtualLoop();
  private final List<ProbeResult> received = new ArrayList<>();

  /** Asks one whose answer takes so long. */
  private void ask(ProbeResult answer, Duration took) {
    var probes = new ActivatorMeters(meters).probes((on, request, done) -> {
      assertThat(request).isEqualTo(QUESTION);
      on.schedule(took, () -> done.accept(answer));
    });
    probes.probe(loop, QUESTION, received::add);
    loop.advance(took);
  }

  @Test
  void handsOnEachAnswerAndMeasuresHowLongItTook() {
    var yes = new ProbeResult.Answered(200, "queue");
    var no = new ProbeResult.Answered(503, "");
    ask(yes, ofMillis(4));
    ask(no, ofMillis(6));

    assertThat(received).containsExactly(yes, no);
    // whatever it says: it was answered
    assertThat(Scrape.of(meters, "activator_probe_duration_seconds_sum"))
        .containsExactly("activator_probe_duration_seconds_sum{outcome=\"answered\"} 0.01");
    assertThat(Scrape.of(meters, "activator_probe_duration_seconds_count"))
        .containsExactly("activator_probe_duration_seconds_count{outcome=\"answered\"} 2");
  }

  @Test
  void readsFromThemWhatFailed() {
    ask(new ProbeResult.Refused("connection refused"), ofMillis(1));
    ask(new ProbeResult.TimedOut(ofMillis(300), true), ofMillis(300));
    ask(new ProbeResult.InvalidResponse("no HTTP"), ofMillis(2));

    assertThat(received).hasSize(3);
    assertThat(Scrape.of(meters, "activator_probe_duration_seconds_sum"))
        .containsExactly("activator_probe_duration_seconds_sum{outcome=\"failed\"} 0.303");
  }

  @Test
  void measuresAttemptsToConnect_onlyIfAllWereRefused() {
    var refused = new ArrayList<Boolean>();
    var probes = new ActivatorMeters(meters).probes(new ProbeClient() {
      @Override
      public void probe(Loop on, ProbeRequest request, Consumer<ProbeResult> done) {
        throw new AssertionError();
      }

      @Override
      public void awaitListener(Loop on, ProbeRequest next, Duration pause, Duration limit,
          Consumer<Boolean> refused) {
        on.execute(() -> refused.accept(pause.equals(ofMillis(5)) && limit.equals(ofMillis(500))));
      }
    });

    // the first ends at a server that listens, whose probe is measured by itself
    probes.awaitListener(loop, QUESTION, ofMillis(1), ofMillis(500), refused::add);
    probes.awaitListener(loop, QUESTION, ofMillis(5), ofMillis(500), refused::add);
    loop.run();

    assertThat(refused).containsExactly(false, true);
    assertThat(Scrape.of(meters, "activator_probe_duration_seconds_count"))
        .containsExactly("activator_probe_duration_seconds_count{outcome=\"refused\"} 1");
  }
}
