package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.upstream.HttpProbeClient;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A container whose readinessProbe takes longer than {@code PROBE_TIMEOUT}, 300 ms. */
class SlowReadinessTest extends WireTest {
  private static final DestinationSet NONE = DestinationSet.NONE;

  private RevisionBackendsManager backends;
  private DisposableServer pod;

  private DestinationSet pod(Duration timeout, Publisher<String> ready) {
    var revision = new Revision(Activator.HELLO, "", PortProtocol.HTTP1, 0,
        RequestTimeouts.DEFAULT, true, new ReadinessProbeSpec("/ready", Map.of(), timeout),
        Map.of(), Map.of(), null);
    var revisions = activator.revisions;
    var throttler = Quiescence.watch(Make.throttler(revisions.live, 1_000));
    backends = Make.backends(revisions.live, activator.loops.all().getFirst(),
        Quiescence.watch(new HttpProbeClient(activator.upstreams, 5_000)));
    backends.healthy().subscribe("test", throttler::onDestinations);
    var live = revisions.put(revision);
    throttler.onRevision(live);
    backends.revision(live);
    activator.admission = throttler::admit;
    pod = HttpServer.create().host("127.0.0.1").port(0)
        .handle((request, response) -> response
            .sendString(request.uri().equals("/ready") ? ready : Mono.just("hello")))
        .bindNow();
    return DestinationSet
        .of(new Destination("127.0.0.1", ((InetSocketAddress) pod.address()).getPort()));
  }

  @AfterEach
  void stop() {
    backends.stop().join();
    pod.disposeNow();
  }

  private void listed(PodsByReadiness pods) {
    backends.listed(new PrivateEndpoints(Activator.HELLO, pods, pods));
  }

  private void assertServes() throws Exception {
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("200 hello");
    }
  }

  @Test
  void servesBeforeKubernetesCallsItReady_ifItAnswersWithinTheTimeoutOfItsProbe() throws Exception {
    listed(new PodsByReadiness(NONE, pod(Duration.ofSeconds(60),
        Mono.delay(Duration.ofMillis(600)).thenReturn("ready"))));

    assertServes();
  }

  @Test
  void servesOnceKubernetesCallsItReady_thoughItNeverAnswersOurProbe() throws Exception {
    listed(new PodsByReadiness(pod(Duration.ofSeconds(1), Mono.never()), NONE));

    assertServes();
  }
}
