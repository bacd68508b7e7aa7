package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.REVISION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.revision.PodTransport;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.ProbeVerdict;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.loop.Loop;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.tls.DialTarget;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodProberTest {
  /** Answers what it is told, and keeps what it was asked. */
  static final class ScriptedClient implements ProbeClient {
    final List<ProbeRequest> requests = new ArrayList<>();
    Function<ProbeRequest, ProbeResult> answers = _ -> new ProbeResult.Answered(200, "queue");

    @Override
    public void probe(Loop loop, ProbeRequest request, Consumer<ProbeResult> done) {
      requests.add(request);
      loop.execute(() -> done.accept(answers.apply(request)));
    }
  }

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final ScriptedClient client = new ScriptedClient();
  private final List<ProbeVerdict> verdicts = new ArrayList<>();

  private void probe(ProbeSettings settings) {
    new PodProber(client, loop, Revision.of(REVISION, 1), settings).probe(A, loop,
        verdicts::add);
    loop.run();
  }

  @Test
  @DisplayName("sends it to the pod's address")
  void probesThePodAtItsAddress() {
    probe(ProbeSettings.DEFAULT);

    assertThat(client.requests).containsExactly(
        new ProbeRequest(A, PortProtocol.HTTP1, "/healthz", "128.0.0.1:1234",
            Map.of("K-Network-Probe", List.of("queue"),
                "User-Agent", List.of("Knative-Activator-Probe")),
            Duration.ofMillis(300)));
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS);
  }

  @Test
  void probesOnTheLoopThatIsNamed_andReportsOnItsOwn() {
    // given a client that answers on the loop on which it is asked
    var other = new VirtualLoop();
    new PodProber(client, loop, Revision.of(REVISION, 1), ProbeSettings.DEFAULT).probe(A, other,
        verdicts::add);
    loop.run();
    assertThat(client.requests).isEmpty();

    other.run();
    assertThat(client.requests).hasSize(1);
    assertThat(verdicts).isEmpty();

    loop.run();
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS);
  }

  @Test
  @DisplayName("names the service where a mesh lets pods through")
  void namesTheServiceWhereAMeshLetsPodsThrough() {
    probe(new ProbeSettings(() -> new MeshAddressing(MeshMode.AUTO, true), Duration.ofSeconds(1),
        Duration.ofMillis(200), 500));

    assertThat(client.requests).containsExactly(new ProbeRequest(A, PortProtocol.HTTP1, "/healthz",
        "test-revision-private.test-namespace",
        Map.of("K-Network-Probe", List.of("queue"), "User-Agent",
            List.of("Knative-Activator-Probe"), "K-Passthrough-Lb", List.of("true")),
        Duration.ofSeconds(1)));
  }

  @Test
  void aFailedConnectionIsNoAnswer() {
    client.answers = _ -> new ProbeResult.Refused("connection refused");
    probe(ProbeSettings.DEFAULT);

    assertThat(verdicts)
        .containsExactly(new ProbeVerdict(Kind.REFUSED, "connection refused"));
  }

  private PodProber h2cProber() {
    return prober(PortProtocol.H2C, null, ProbeSettings.DEFAULT);
  }

  private PodProber prober(PortProtocol protocol, @Nullable ReadinessProbeSpec container,
      ProbeSettings settings) {
    return new PodProber(client, loop, new Revision(REVISION, "1", protocol, 0,
        RequestTimeouts.DEFAULT, true, container, Map.of(), Map.of(), null), settings);
  }

  private List<PortProtocol> spoken() {
    return client.requests.stream().map(ProbeRequest::protocol).toList();
  }

  @Test
  void probesAnHttp2RevisionInHttp1AsItsQueueProxyUnderstandsThat() {
    h2cProber().probe(A, loop, verdicts::add);
    loop.run();

    assertThat(spoken()).containsExactly(PortProtocol.HTTP1);
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS);
  }

  @Test
  void probesInHttp2WhereAnHttp2RevisionDoesNotUnderstandHttp1() {
    // given a pod that does not answer in HTTP/1.1
    client.answers = request -> request.protocol() == PortProtocol.HTTP1
        ? new ProbeResult.InvalidResponse("malformed response")
        : new ProbeResult.Answered(200, "queue");
    var prober = h2cProber();

    // when it is probed twice
    prober.probe(A, loop, verdicts::add);
    loop.run();
    prober.probe(A, loop, verdicts::add);
    loop.run();

    // then the first finds out, and the second knows
    assertThat(spoken()).containsExactly(PortProtocol.HTTP1, PortProtocol.H2C, PortProtocol.H2C);
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS, ProbeVerdict.ANSWERS);
  }

  @Test
  void learnsTheProtocolWhenTwoPodsShowItAtOnce() {
    // given pods that do not answer in HTTP/1.1
    client.answers = request -> request.protocol() == PortProtocol.HTTP1
        ? new ProbeResult.InvalidResponse("malformed response")
        : new ProbeResult.Answered(200, "queue");
    var prober = h2cProber();

    // when two are probed at once
    prober.probe(A, loop, verdicts::add);
    prober.probe(Fixtures.B, loop, verdicts::add);
    loop.run();

    // then both answer, in HTTP/2
    assertThat(spoken()).containsExactly(PortProtocol.HTTP1, PortProtocol.HTTP1, PortProtocol.H2C,
        PortProtocol.H2C);
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS, ProbeVerdict.ANSWERS);
  }

  @Test
  void probesTheContainerInItsOwnProtocolWhereThereIsNoQueueProxy() {
    client.answers = _ -> new ProbeResult.Answered(204, "");
    prober(PortProtocol.H2C, new ReadinessProbeSpec("/up", Map.of()), ProbeSettings.DEFAULT).probe(
        A,
        loop, verdicts::add);
    loop.run();

    assertThat(client.requests).singleElement().satisfies(request -> {
      assertThat(request.path()).isEqualTo("/up");
      assertThat(request.protocol()).isEqualTo(PortProtocol.H2C);
    });
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS);
  }

  @Test
  void probesTheContainerAsTheKubeletDoes() {
    client.answers = _ -> new ProbeResult.Answered(302, "");
    prober(PortProtocol.HTTP1,
        new ReadinessProbeSpec("/up",
            Map.of("X-Probe", List.of("yes", "no"), "Host", List.of("me.example"))),
        ProbeSettings.DEFAULT).probe(A, loop, verdicts::add);
    loop.run();

    assertThat(client.requests).containsExactly(new ProbeRequest(DialTarget.plain(A),
        PortProtocol.HTTP1, "me.example",
        new ReadinessProbeSpec("/up",
            Map.of("User-Agent", List.of("kube-probe/1.34"), "Accept", List.of("*/*"), "Connection",
                List.of("close"), "X-Probe", List.of("yes", "no")),
            Duration.ofSeconds(1)),
        Duration.ofMillis(300)));
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS);
  }

  @ParameterizedTest(name = "{0} {1} leads to {2}: {3}")
  @CsvSource({"302, /ready, 200, HEALTHY", "302, /ready, 404, UNHEALTHY",
      "302, http://128.0.0.1:9090/ready, 200, HEALTHY",
      "302, https://128.0.0.1/ready, 200, UNHEALTHY", "302, ftp://128.0.0.1/, 200, UNHEALTHY",
      "302, /up, 200, UNHEALTHY", "302, https://shop.example/ready, 404, HEALTHY",
      "304, /ready, 404, HEALTHY"})
  void followsRedirectsOfAContainerAsTheKubeletDoes(int status, String location, int then,
      Kind kind) {
    client.answers = request -> request.path().equals("/up")
        ? new ProbeResult.Answered(status, "", location)
        : new ProbeResult.Answered(then, "");
    prober(PortProtocol.HTTP1, new ReadinessProbeSpec("/up", Map.of()), ProbeSettings.DEFAULT)
        .probe(A, loop, verdicts::add);
    loop.run();

    assertThat(verdicts).extracting(ProbeVerdict::kind).containsExactly(kind);
    assertThat(client.requests).hasSizeLessThanOrEqualTo(10);
  }

  @Test
  void aRedirectedProbeKeepsItsHostAndItsTime() {
    var requests = new ArrayList<ProbeRequest>();
    ProbeClient slow = (on, request, done) -> {
      requests.add(request);
      on.schedule(Duration.ofMillis(400), () -> done.accept(switch (requests.size()) {
        case 1 -> new ProbeResult.Answered(302, "", "/ready");
        case 2 -> new ProbeResult.Answered(302, "", "http://128.0.0.1:9090/");
        default -> new ProbeResult.Answered(200, "");
      }));
    };
    new PodProber(slow, loop, new Revision(REVISION, "1", PortProtocol.HTTP1, 0,
        RequestTimeouts.DEFAULT, true,
        new ReadinessProbeSpec("/up", Map.of("Host", List.of("me.example"))), Map.of(), Map.of(),
        null),
        ProbeSettings.DEFAULT).probe(A, loop, verdicts::add);
    loop.advance(Duration.ofSeconds(2));

    assertThat(requests).extracting(ProbeRequest::host)
        .containsExactly("me.example", "me.example", "128.0.0.1:9090");
    assertThat(requests).extracting(ProbeRequest::timeout)
        .containsExactly(Duration.ofMillis(1000), Duration.ofMillis(600), Duration.ofMillis(200));
  }

  @Test
  void followsNoRedirectOfAQueueProxy() {
    client.answers = _ -> new ProbeResult.Answered(302, "queue", "/ready");
    prober(PortProtocol.HTTP1, null, ProbeSettings.DEFAULT).probe(A, loop, verdicts::add);
    loop.run();

    assertThat(client.requests).hasSize(1);
    assertThat(verdicts).extracting(ProbeVerdict::detail).containsExactly("answered 302");
  }

  @Test
  void givesAHandshakeTheTimeOfTheProbe_andFollowsWhatPodsMustProve() {
    client.answers = _ -> new ProbeResult.Answered(200, "");
    var before = new PodIdentity.OfService("web.shop.svc", "one");
    var after = new PodIdentity.OfService("web.shop.svc", "two");
    var prober = new PodProber(client, loop, new Revision(REVISION, "1", PortProtocol.NEGOTIATED, 0,
        RequestTimeouts.DEFAULT, true, new ReadinessProbeSpec("/up", Map.of()), Map.of(), Map.of(),
        null, null, before), ProbeSettings.DEFAULT);

    prober.probe(A, loop, verdicts::add);
    prober.setTransport(new PodTransport(PortProtocol.NEGOTIATED, after));
    prober.probe(A, loop, verdicts::add);
    loop.run();

    assertThat(client.requests).extracting(ProbeRequest::target)
        .containsExactly(new DialTarget(A, before), new DialTarget(A, after));
    assertThat(client.requests).extracting(ProbeRequest::connectTimeout)
        .containsOnly(Duration.ofSeconds(1));
    assertThat(client.requests).extracting(ProbeRequest::protocol)
        .containsOnly(PortProtocol.NEGOTIATED);
  }

  @Test
  void takesAConnectionForAnAnswerWhereTheContainerHasNoPath() {
    client.answers = _ -> new ProbeResult.Connected();
    prober(PortProtocol.HTTP1, ReadinessProbeSpec.CONNECT, ProbeSettings.DEFAULT).probe(A,
        loop, verdicts::add);
    loop.run();

    assertThat(client.requests).extracting(ProbeRequest::path).containsExactly("");
    assertThat(verdicts).containsExactly(ProbeVerdict.ANSWERS);
  }

  @Test
  void namesTheServiceToAMeshAlsoWhereTheContainerAnswers() {
    prober(PortProtocol.HTTP1, new ReadinessProbeSpec("/up", Map.of()),
        new ProbeSettings(() -> new MeshAddressing(MeshMode.AUTO, true), Duration.ofSeconds(1),
            Duration.ofMillis(200), 500))
        .probe(A, loop, verdicts::add);
    loop.run();

    assertThat(client.requests).singleElement().satisfies(request -> {
      assertThat(request.host()).isEqualTo("test-revision-private.test-namespace");
      assertThat(request.what().headers()).containsEntry("K-Passthrough-Lb", List.of("true"));
    });
  }

  @Test
  void sendsOneProbeWhereTheRevisionSpeaksHttp1() {
    client.answers = _ -> new ProbeResult.InvalidResponse("malformed response");
    probe(ProbeSettings.DEFAULT);

    assertThat(client.requests).hasSize(1);
    assertThat(verdicts)
        .containsExactly(new ProbeVerdict(Kind.NO_ANSWER, "malformed response"));
  }

  @Test
  void aContainerMayAnswerAsSlowlyAsItsProbeAllows_butConnectsAsQuicklyAsAnyPod() {
    // given a probe with timeoutSeconds: 5, of a pod that accepts connections and does not answer
    client.answers = request -> new ProbeResult.TimedOut(request.timeout(), true);
    var slow = new ReadinessProbeSpec("/up", Map.of(), Duration.ofSeconds(5));
    prober(PortProtocol.HTTP1, slow, ProbeSettings.DEFAULT).probe(A, loop, verdicts::add);
    loop.run();

    assertThat(client.requests).singleElement().satisfies(request -> {
      assertThat(request.connectTimeout()).isEqualTo(Duration.ofMillis(300));
      assertThat(request.timeout()).isEqualTo(Duration.ofSeconds(5));
    });
    assertThat(verdicts)
        .containsExactly(new ProbeVerdict(Kind.SLOW, "no answer within 5000 ms"));
  }

  @Test
  void waitsAsLongAsTheRoundTripSuggests() {
    // given round trips of no time at all, and a long PROBE_TIMEOUT
    var settings = new ProbeSettings(() -> MeshAddressing.DEFAULT, Duration.ofSeconds(5),
        Duration.ofMillis(200), 500);
    var prober = new PodProber(client, loop, Revision.of(REVISION, 1), settings);
    prober.probe(A, loop, verdicts::add);
    loop.run();

    // when probes are not answered any more
    client.answers = request -> new ProbeResult.TimedOut(request.timeout(), true);
    prober.probe(A, loop, verdicts::add);
    loop.run();

    // then all of it is waited for the first, and 300 ms for the next
    assertThat(client.requests).extracting(ProbeRequest::timeout)
        .containsExactly(Duration.ofSeconds(5), Duration.ofMillis(300));
    assertThat(verdicts.getLast())
        .isEqualTo(new ProbeVerdict(Kind.NO_ANSWER, "no answer within 300 ms"));
  }

  @Test
  void distinguishesAPodThatDoesNotAnswer_fromOneThatCannotBeReached() {
    client.answers = request -> new ProbeResult.TimedOut(request.timeout(), false);
    probe(ProbeSettings.DEFAULT);
    client.answers = _ -> new ProbeResult.Failed("no route to the pod");
    probe(ProbeSettings.DEFAULT);

    assertThat(verdicts).containsExactly(
        new ProbeVerdict(Kind.NO_CONNECTION, "no answer within 300 ms"),
        new ProbeVerdict(Kind.NO_CONNECTION, "no route to the pod"));
  }
}
