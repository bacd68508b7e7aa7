package dev.activator.ext.rules;

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
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.ext.coldstarts.ColdStartRecorder;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.Throttler;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that do not wait for the start of their revision to the end. */
class FallbackTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final RevisionId SPARE = new RevisionId("shop", "spare");
  private static final Destination POD = new Destination("10.1.1.1", 8080);
  private static final Destination SPARE_POD = new Destination("10.1.1.2", 8080);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final TestRevisions revisions = new TestRevisions(loop);
  private final Throttler throttler = Make.throttler(revisions.live, 10);
  private final ColdStartRecorder starts = new ColdStartRecorder(revisions.live, loop::nanoTime,
      new Meters(),
      Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), ColdStartRecorder.LabelledBy.NONE);
  private final Map<RevisionId, Integer> counted = new HashMap<>();
  private final List<RequestOutcome> outcomes = new ArrayList<>();
  private final FakePod pod = new FakePod();
  private final RequestDispatcher dispatcher = Dispatchers
      .with(loop,
          new Router(new RevisionResolver.Hosts((_, _, _) -> WEB), _ -> null, revisions.live,
              Readiness.Ready::new, Dispatchers.arrival(WaitingPageMode.AUTO, List.of())),
          throttler::admit, pod)
      .counter(new RequestCounts() {
        @Override
        public void arrived(RevisionId revision) {
          counted.merge(revision, 1, Integer::sum);
        }

        @Override
        public void left(RevisionId revision) {
          counted.merge(revision, -1, Integer::sum);
        }
      })
      .observer(this::saw)
      .starts(
          Quiescence.watch(new RevisionStarts(revisions.live, false, this::status,
              starts::answeredEarly)))
      .pages(WaitingPageMode.AUTO).fallbacks(revisions.live)
      .build();

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

  private void fallsBack(String fallback) {
    revisions.put(TestValues.withRules(Revision.of(WEB, 1),
        ColdStartRulesReader.read(Map.of(), Map.of(ColdStartRulesReader.FALLBACK, fallback))));
  }

  private RecordingCaller send(HttpMethod method, String... headers) {
    var caller = new RecordingCaller(loop);
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("Host", "web.shop");
    for (int i = 0; i < headers.length; i += 2) {
      request.headers().set(headers[i], headers[i + 1]);
    }
    dispatcher.dispatch(request, RequestVersion.HTTP_1_1, caller);
    loop.run();
    return caller;
  }

  private RecordingCaller get() {
    return send(HttpMethod.GET);
  }

  private void pods(RevisionId id, Destination... now) {
    var pods = DestinationSet.of(now);
    starts.listed(
        new PrivateEndpoints(id, new PodsByReadiness(DestinationSet.NONE, pods),
            PodsByReadiness.NONE));
    starts.published(HealthyDestinations.pods(id, pods));
    throttler.onDestinations(HealthyDestinations.pods(id, pods));
    loop.run();
  }

  private int count(RevisionId id) {
    return counted.getOrDefault(id, 0);
  }

  private void podAnswers() {
    var connection = pod.accepts();
    connection.answers(200);
    connection.sends(LastHttpContent.EMPTY_LAST_CONTENT);
    loop.run();
  }

  @Test
  void isAnsweredAfterItsTime_andTheStartGoesOn() {
    fallsBack("{after: 2s, respond: {status: 202, headers: [{name: Location, value: /later}]}}");
    var caller = get();
    loop.advance(Duration.ofMillis(1_999));
    assertThat(caller.answer).isNull();

    loop.advance(Duration.ofMillis(1));

    assertThat(caller.answer.status()).isEqualTo(202);
    assertThat(caller.answer.headers()).containsEntry("Location", "/later")
        .containsEntry("K-Activator-Reason", "fallback").doesNotContainKey("Retry-After");
    assertThat(outcomes).containsExactly(RequestOutcome.FALLBACK);
    assertThat(count(WEB)).isEqualTo(1);
    assertThat(throttler.view(WEB).queued()).isEqualTo(1);

    loop.advance(Duration.ofSeconds(20));
    pods(WEB, POD);
    assertThat(count(WEB)).isZero();
    assertThat(throttler.view(WEB).queued() + throttler.view(WEB).inFlight()).isZero();
    assertThat(starts.latest()).singleElement().returns(RequestOutcome.FALLBACK, ColdStart::outcome)
        .returns(22_000_000_000L, start -> start.phases().pod());
  }

  @Test
  void isAnsweredAtOnceAtZero_withWhenToComeAgain() {
    fallsBack("{respond: {body: soon}}");

    var caller = get();

    assertThat(caller.answer.status()).isEqualTo(503);
    assertThat(caller.answer.body()).isEqualTo("soon");
    assertThat(caller.answer.headers()).containsKey("Retry-After");
    assertThat(count(WEB)).isEqualTo(1);
    loop.advance(Duration.ofSeconds(66));
    assertThat(count(WEB)).isZero();
  }

  @Test
  void isNotUsed_whenThePodIsThereInTime() {
    fallsBack("{after: 2s, respond: {}}");
    var caller = get();
    loop.advance(Duration.ofMillis(1_900));
    pods(WEB, POD);
    podAnswers();
    loop.advance(Duration.ofSeconds(10));

    assertThat(caller.statuses).containsExactly(200);
    assertThat(outcomes).containsExactly(RequestOutcome.ANSWERED);
  }

  @Test
  void isNotForRequestsThatWaitForTheirTurn() {
    fallsBack("{after: 2s, respond: {}}");
    pods(WEB, POD);
    get();
    var first = pod.accepts();
    var second = get();
    loop.advance(Duration.ofSeconds(10));

    assertThat(second.answer).isNull();
    assertThat(throttler.view(WEB).queued()).isEqualTo(1);
    first.answers(200);
    first.sends(LastHttpContent.EMPTY_LAST_CONTENT);
    loop.run();
    podAnswers();
    assertThat(second.statuses).containsExactly(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{respond: {status: 202}}", "{after: 2s, respond: {status: 202}}"})
  void takesARequestThatWaitedForItsTurn_onceNoPodIsLeft(String fallback) {
    fallsBack(fallback);
    pods(WEB, POD);
    get();
    var first = pod.accepts();
    var second = get();
    loop.advance(Duration.ofSeconds(10));
    assertThat(second.answer).isNull();

    pods(WEB);
    loop.advance(Duration.ofSeconds(1));

    assertThat(second.answer.status()).isEqualTo(202);
    first.answers(200);
    first.sends(LastHttpContent.EMPTY_LAST_CONTENT);
    loop.advance(Duration.ofSeconds(66));
    assertThat(count(WEB)).isZero();
  }

  @Test
  void theTimeInTheQueueEndsARequestThatWaitsForItsTurn() {
    fallsBack("{respond: {}}");
    pods(WEB, POD);
    get();
    var first = pod.accepts();
    var second = send(HttpMethod.GET, "Request-Timeout", "3");

    loop.advance(Duration.ofSeconds(3));

    assertThat(second.answer.headers()).containsEntry("K-Activator-Reason", "caller-deadline");
    first.answers(200);
    first.sends(LastHttpContent.EMPTY_LAST_CONTENT);
    loop.run();
    assertThat(count(WEB)).isZero();
  }

  @Test
  void aNavigationGetsTheWaitingPageInstead() {
    fallsBack("{respond: {}}");

    var browser = send(HttpMethod.GET, "Sec-Fetch-Mode", "navigate", "Accept", "text/html");
    loop.advance(Duration.ofSeconds(1));

    assertThat(browser.answer.body()).contains("is starting");
    loop.advance(Duration.ofSeconds(66));
  }

  @Test
  void anotherServiceGetsTheWholeRequest_andIsCountedForIt() {
    fallsBack("{after: 1s, service: spare}");
    revisions.put(Revision.of(SPARE, 1));
    pods(SPARE, SPARE_POD);
    var caller = send(HttpMethod.POST, "Content-Length", "6");
    caller.exchange().content(part("abc"));
    loop.advance(Duration.ofSeconds(1));
    assertThat(count(SPARE)).isEqualTo(1);
    assertThat(count(WEB)).isEqualTo(1);
    assertThat(throttler.view(SPARE).inFlight()).isEqualTo(1);
    assertThat(throttler.view(WEB).queued()).isEqualTo(1);

    var connection = pod.accepts();
    caller.exchange().content(part("def"));
    caller.exchange().content(LastHttpContent.EMPTY_LAST_CONTENT);
    assertThat(connection.body()).isEqualTo("abcdef.0");
    connection.answers(200);
    connection.sends(LastHttpContent.EMPTY_LAST_CONTENT);
    loop.run();

    assertThat(caller.statuses).containsExactly(200);
    assertThat(count(SPARE)).isZero();
    pods(WEB, POD);
    assertThat(count(WEB)).isZero();
    assertThat(starts.latest()).isEmpty();
    assertThat(pod.dials()).isEqualTo(1);
  }

  private static DefaultHttpContent part(String text) {
    return new DefaultHttpContent(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
  }

  @Test
  void waitsForTheOtherService_whichHasNoFallbackThen() {
    fallsBack("{service: spare}");
    revisions.put(TestValues.withRules(Revision.of(SPARE, 1), ColdStartRulesReader.read(Map.of(),
        Map.of(ColdStartRulesReader.FALLBACK, "{service: web}"))));
    var caller = get();
    loop.advance(Duration.ofSeconds(10));
    assertThat(throttler.view(SPARE).queued()).isEqualTo(1);
    assertThat(count(SPARE)).isEqualTo(1);

    pods(SPARE, SPARE_POD);
    podAnswers();

    assertThat(caller.statuses).containsExactly(200);
    loop.advance(Duration.ofSeconds(66));
    assertThat(count(WEB)).isZero();
  }

  @Test
  void takesRequestsThatARevisionCannotStartFor() {
    fallsBack("{after: 1m, respond: {body: soon}}");
    var answered = get();
    cannotStart();
    assertThat(answered.answer.body()).isEqualTo("soon");
    assertThat(answered.answer.headers()).containsEntry("Retry-After", "30");
    assertThat(count(WEB)).isZero();

    fallsBack("{after: 1m, service: spare}");
    revisions.put(Revision.of(SPARE, 1));
    pods(SPARE, SPARE_POD);
    var handedOver = get();
    cannotStart();
    podAnswers();
    assertThat(handedOver.statuses).containsExactly(200);

    revisions.remove(SPARE);
    var failed = get();
    cannotStart();
    assertThat(failed.answer.headers()).containsEntry("K-Activator-Reason", "cannot-start");
    assertThat(count(WEB) + count(SPARE)).isZero();
  }

  private void cannotStart() {
    throttler.onContainerFailure(
        new ContainerFailure(WEB, new RevisionStartFailure("ExitCode1", "", "")));
    loop.run();
  }

  @Test
  void waitsAsEver_whenThereIsNoSuchService() {
    fallsBack("{after: 1s, service: spare}");
    var caller = get();
    loop.advance(Duration.ofSeconds(10));
    pods(WEB, POD);
    podAnswers();

    assertThat(caller.statuses).containsExactly(200);
    assertThat(outcomes).containsExactly(RequestOutcome.ANSWERED);
  }

  @Test
  void isAnsweredThough_whenTheCallersDeadlineIsTooNearForTheStart() {
    fallsBack("{after: 2s, respond: {status: 202}}");
    get();
    loop.advance(Duration.ofSeconds(10));
    pods(WEB, POD);
    pods(WEB);

    var caller = send(HttpMethod.GET, "Request-Timeout", "5");
    loop.advance(Duration.ofSeconds(2));

    assertThat(caller.statuses).containsExactly(202);
    assertThat(count(WEB)).isEqualTo(1);
    // One that cannot wait for the fallback either is refused as ever.
    assertThat(send(HttpMethod.GET, "Request-Timeout", "1").answer.headers())
        .containsEntry("K-Activator-Reason", "deadline-too-near");
    loop.advance(Duration.ofSeconds(66));
  }

  @Test
  void aRequestWhosePodRefusedFallsBack_whenNoPodIsLeft() {
    fallsBack("{after: 1s, respond: {status: 202}}");
    pods(WEB, POD);
    var caller = get();
    pod.refuses();
    pods(WEB);
    loop.advance(Duration.ofSeconds(2));

    assertThat(caller.answer.status()).isEqualTo(202);
    loop.advance(Duration.ofSeconds(66));
    assertThat(count(WEB)).isZero();
  }
}
