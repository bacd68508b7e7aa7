package dev.activator.ext.admit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.RevisionStarts;
import dev.activator.proxy.exchange.Router;
import dev.activator.config.WaitingPageMode;
import dev.activator.testing.TestRevisions;
import dev.activator.config.ColdStartRulesReader;
import dev.activator.http.HeaderFieldList;
import dev.activator.lifecycle.Readiness;
import dev.activator.ext.coldstarts.ColdStartRecorder;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.StubDownstream;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.Throttler;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that a gateway sends itself, after it has asked. */
class GatewayHandoverTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Destination POD = new Destination("10.1.1.1", 8080);
  private static final Duration DELAY = Duration.ofSeconds(1);
  private static final Duration COUNTED_FOR = Duration.ofSeconds(3);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(WEB, 1));
  private final Throttler throttler = Make.throttler(revisions.live, 2);
  private final ColdStartRecorder starts = new ColdStartRecorder(revisions.live, loop::nanoTime,
      new Meters(),
      Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), ColdStartRecorder.LabelledBy.NONE);
  private final List<RequestOutcome> outcomes = new ArrayList<>();
  private final RevisionReadySince ready = new RevisionReadySince(revisions.live, DELAY,
      loop::nanoTime);
  private int counted;
  private final RequestCounter counter = new RequestCounts() {
    @Override
    public void arrived(RevisionId revision) {
      counted++;
    }

    @Override
    public void left(RevisionId revision) {
      counted--;
    }
  };
  private final GatewayHandover handover = new GatewayHandover(loop, ready, revisions.live,
      COUNTED_FOR, Duration.ofSeconds(60));
  private final RequestDispatcher dispatcher = Dispatchers
      .with(loop, new Router(
          new RevisionResolver.Hosts((host, _, _) -> host.startsWith("web.shop") ? WEB : null),
          _ -> null, revisions.live, Readiness.Ready::new,
          Dispatchers.arrival(WaitingPageMode.AUTO, List.of())), throttler::admit, new FakePod())
      .counter(counter).observer(this::saw)
      .starts(
          Quiescence.watch(new RevisionStarts(revisions.live, false, this::status,
              starts::answeredEarly)))
      .pages(WaitingPageMode.AUTO).fallbacks(revisions.live).delivery(handover).build();

  private void saw(Step step, RequestTimeline request) {
    starts.saw(step, request);
    if (step == Step.ENDED) {
      outcomes.add(Objects.requireNonNull(request.outcome()));
    }
  }

  private StartStatus status(RevisionId id) {
    var view = throttler.view(id);
    return new StartStatus(view != null && view.capacity() > 0, "", false, null, null,
        Duration.ZERO);
  }

  private static final class Gateway extends StubDownstream {
    private @Nullable LocalResponse answer;

    private Gateway(VirtualLoop loop) {
      super(loop);
    }

    @Override
    public void head(HttpResponse head) {
      throw new AssertionError("nothing is forwarded");
    }

    @Override
    public void answer(LocalResponse local) {
      assertThat(answer).isNull();
      answer = local;
    }

    @Override
    public void abort() {
      throw new AssertionError("nothing is forwarded");
    }

    @Override
    public void ended() {
      exchange = null;
    }

    private void leaves() {
      var open = Objects.requireNonNull(exchange);
      exchange = null;
      open.callerGone();
    }

    private @Nullable Integer status() {
      return answer == null ? null : answer.status();
    }
  }

  private Gateway ask(String host, String... headers) {
    var gateway = new Gateway(loop);
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/a",
        HeaderFieldList.CHECKED);
    request.headers().set("Host", host);
    for (int i = 0; i < headers.length; i += 2) {
      request.headers().set(headers[i], headers[i + 1]);
    }
    dispatcher.answerGateway(request, gateway);
    loop.run();
    return gateway;
  }

  private Gateway ask() {
    return ask("web.shop");
  }

  private void listed(DestinationSet ready, DestinationSet notReady) {
    var listing = new PrivateEndpoints(WEB, new PodsByReadiness(ready, notReady),
        PodsByReadiness.NONE);
    starts.listed(listing);
    this.ready.listed(listing);
    loop.run();
  }

  private void podIsReady() {
    listed(DestinationSet.of(POD), DestinationSet.NONE);
  }

  private void podAnswersProbes() {
    starts.published(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
    loop.run();
  }

  private void isUp() {
    podIsReady();
    podAnswersProbes();
    loop.advance(DELAY);
  }

  @AfterEach
  void isDeleted() {
    revisions.remove(WEB);
    loop.run();
  }

  @Test
  void isAnsweredAtOnceWhilePodsAreUp_andCountsForTheDuration() {
    isUp();

    var gateway = ask();

    assertThat(gateway.status()).isEqualTo(200);
    assertThat(gateway.answer.headers()).containsEntry("K-Activator-Pod", "10.1.1.1:8080");
    assertThat(outcomes).containsExactly(RequestOutcome.HANDED_OVER);
    assertThat(throttler.view(WEB).inFlight()).isZero();
    loop.advance(COUNTED_FOR.minusNanos(1));
    assertThat(counted).isEqualTo(1);
    loop.advance(Duration.ofNanos(1));
    assertThat(counted).isZero();
  }

  @Test
  void theLimitOfAPodHoldsNoneBack_becauseTheEndIsNotSeen() {
    isUp();

    for (int i = 0; i < 5; i++) {
      assertThat(ask().status()).isEqualTo(200);
    }

    assertThat(counted).isEqualTo(5);
    loop.advance(COUNTED_FOR);
    assertThat(counted).isZero();
  }

  @Test
  void anAnnotationSetsTheDurationOfOneService() {
    var plain = Revision.of(WEB, 1);
    revisions.put(new Revision(WEB, plain.uid(), plain.protocol(), 1, plain.timeouts(),
        plain.probesBeforeReady(), plain.readinessProbe(), plain.labels(),
        Map.of("activator.dev/request-duration", "500ms"), null));
    isUp();

    ask();

    loop.advance(Duration.ofMillis(499));
    assertThat(counted).isEqualTo(1);
    loop.advance(Duration.ofMillis(1));
    assertThat(counted).isZero();
  }

  @Test
  void waitsUntilKubernetesCallsAPodReady_andTheGatewayKnows() {
    var gateway = ask();
    assertThat(counted).isEqualTo(1);
    listed(DestinationSet.NONE, DestinationSet.of(POD));
    podAnswersProbes();
    loop.advance(Duration.ofSeconds(5));
    assertThat(gateway.answer).isNull();

    podIsReady();
    loop.advance(DELAY.minusNanos(1));
    assertThat(gateway.answer).isNull();
    loop.advance(Duration.ofNanos(1));

    assertThat(gateway.status()).isEqualTo(200);
    assertThat(starts.latest()).singleElement()
        .returns(RequestOutcome.HANDED_OVER, ColdStart::outcome);
    loop.advance(COUNTED_FOR);
    assertThat(counted).isZero();
  }

  @Test
  void aGatewayThatLeavesWhileItWaits_isCountedOut() {
    var queued = ask();
    queued.leaves();
    assertThat(counted).isZero();
    podAnswersProbes();
    var waitsForReadiness = ask();

    waitsForReadiness.leaves();
    isUp();

    assertThat(counted).isZero();
    assertThat(outcomes).containsExactly(RequestOutcome.CALLER_GONE, RequestOutcome.CALLER_GONE);
  }

  @Test
  void aRevisionThatGoesAway_isRefusedAsByTheProxy() {
    podAnswersProbes();
    var gateway = ask();

    revisions.remove(WEB);
    loop.run();

    assertThat(gateway.status()).isEqualTo(404);
    assertThat(gateway.answer.headers()).containsEntry("K-Activator-Reason", "revision-gone");
    assertThat(counted).isZero();
  }

  @Test
  void aRevisionThatGoesAwayWhileItGetsAPod_isRefusedToo() {
    var gateway = ask();

    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
    revisions.remove(WEB);
    loop.run();

    assertThat(gateway.status()).isEqualTo(404);
    assertThat(gateway.answer.headers()).containsEntry("K-Activator-Reason", "revision-gone");
    assertThat(counted).isZero();
  }

  @Test
  void thoseThatWaitForReadinessAreRefused_whenTheActivatorEnds() {
    podAnswersProbes();
    var gateway = ask();

    handover.stopAfter(Duration.ZERO);
    loop.run();
    var later = ask();

    assertThat(List.of(gateway, later)).allSatisfy(one -> {
      assertThat(one.status()).isEqualTo(503);
      assertThat(one.answer.headers()).containsEntry("K-Activator-Reason", "shutting-down");
    });
    assertThat(counted).isZero();
  }

  @Test
  void theCallersDeadlineEndsTheWaitForReadiness() {
    podAnswersProbes();
    var gateway = ask("web.shop", "Request-Timeout", "5");

    loop.advance(Duration.ofMillis(4_999));
    assertThat(gateway.answer).isNull();
    loop.advance(Duration.ofMillis(1));

    assertThat(gateway.status()).isEqualTo(504);
    assertThat(outcomes).containsExactly(RequestOutcome.CALLER_DEADLINE);
    assertThat(counted).isZero();
  }

  @Test
  void timesOutAsTheRequestWould() {
    podAnswersProbes();
    var gateway = ask();

    loop.advance(Duration.ofSeconds(300));

    assertThat(gateway.status()).isEqualTo(504);
    assertThat(counted).isZero();
  }

  @Test
  void isRefusedForTheSameReasonsAsByTheProxy() {
    assertThat(ask("other.shop").answer.headers()).containsEntry("K-Activator-Reason",
        "unknown-host");
    var first = ask();
    var second = ask();

    var third = ask();

    assertThat(third.status()).isEqualTo(503);
    assertThat(third.answer.headers()).containsEntry("K-Activator-Reason", "queue-full")
        .containsKey("Retry-After");
    first.leaves();
    second.leaves();
  }

  @Test
  void headersOfProbesDoNotAnswer_becauseCallersOfTheGatewayCanSendThem() {
    var gateway = ask("web.shop", "K-Network-Probe", "activator", "K-Kubelet-Probe", "x",
        "User-Agent", "kube-probe/1");

    assertThat(gateway.answer).isNull();
    assertThat(counted).isEqualTo(1);
    gateway.leaves();
  }

  @Test
  void aRuleAnswersWhileNoPodIsReady_andCountsNothing() {
    revisions.put(TestValues.withRules(Revision.of(WEB, 1), ColdStartRulesReader.read(Map.of(), Map
        .of(ColdStartRulesReader.DO_NOT_WAKE, "[{path: /a, respond: {status: 204}}]"))));

    assertThat(ask().status()).isEqualTo(204);
    podAnswersProbes();
    assertThat(ask().status()).isEqualTo(204);
    isUp();
    assertThat(ask().status()).isEqualTo(200);

    assertThat(counted).isZero();
    assertThat(outcomes).containsExactly(RequestOutcome.NOT_WOKEN, RequestOutcome.NOT_WOKEN,
        RequestOutcome.HANDED_OVER);
  }

  @Test
  void aFallbackToAnotherServiceDoesNotApply_becauseTheGatewayKnowsOnlyTheFirst() {
    revisions.put(TestValues.withRules(Revision.of(WEB, 1), ColdStartRulesReader.read(Map.of(),
        Map.of(ColdStartRulesReader.FALLBACK, "{service: spare}"))));

    var gateway = ask();

    assertThat(gateway.answer).isNull();
    isUp();
    assertThat(gateway.status()).isEqualTo(200);
    loop.advance(COUNTED_FOR);
  }

  @Test
  void aFallbackWithAnAnswerIsTheAnswer() {
    revisions.put(TestValues.withRules(Revision.of(WEB, 1), ColdStartRulesReader.read(Map.of(),
        Map.of(ColdStartRulesReader.FALLBACK, "{after: 2s, respond: {status: 503}}"))));
    var gateway = ask();

    loop.advance(Duration.ofSeconds(2));

    assertThat(gateway.status()).isEqualTo(503);
    assertThat(gateway.answer.headers()).containsEntry("K-Activator-Reason", "fallback");
    isUp();
  }
}
