package dev.activator.ext.waitingpage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.RevisionStarts;
import dev.activator.proxy.exchange.Router;
import dev.activator.config.WaitingPageMode;
import dev.activator.testing.TestRevisions;
import dev.activator.http.HeaderFieldList;
import dev.activator.lifecycle.Readiness;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.ext.coldstarts.ColdStartRecorder;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.Make;
import dev.activator.testing.StubDownstream;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.Throttler;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class WaitingPagesTest {
  private static final RevisionId ID = new RevisionId("default", "hello-00001");
  private static final Destination POD = new Destination("10.1.1.1", 8012);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private Revision revision = revision(Map.of());
  private final TestRevisions revisions = new TestRevisions(loop, revision);
  private final Throttler throttler = Make.throttler(revisions.live, 10);
  private final ColdStartRecorder starts = new ColdStartRecorder(revisions.live, loop::nanoTime,
      new Meters(),
      Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), ColdStartRecorder.LabelledBy.NONE);
  private final Counter counter = new Counter();
  private final FakePod pod = new FakePod();
  private final List<Caller> callers = new ArrayList<>();
  private final RequestDispatcher dispatcher = Dispatchers
      .with(loop,
          new Router(new RevisionResolver.Knative("cluster.local", (_, _, _) -> ID), _ -> null,
              revisions.live, Readiness.Ready::new,
              Dispatchers.arrival(WaitingPageMode.AUTO, List.of())),
          throttler::admit, pod)
      .counter(counter)
      .observer(starts)
      .starts(
          Quiescence.watch(new RevisionStarts(revisions.live, false, this::status,
              starts::answeredEarly)))
      .pages(WaitingPageMode.AUTO)
      .build();

  private static Revision revision(Map<String, String> annotations) {
    return new Revision(ID, "", PortProtocol.HTTP1, 0, RequestTimeouts.DEFAULT, true, null,
        Map.of(),
        annotations, null);
  }

  private StartStatus status(RevisionId id) {
    var start = throttler.start(id);
    var view = throttler.view(id);
    return start == null || view == null
        ? StartStatus.UNKNOWN
        : new StartStatus(view.capacity() > 0, "no pod is listed", false, start.requested(),
            starts.listedFor(id), start.usual());
  }

  private static final class Counter extends RequestCounts {
    private int now;

    @Override
    public void arrived(RevisionId revision) {
      now++;
    }

    @Override
    public void left(RevisionId revision) {
      now--;
    }
  }

  private static final class Caller extends StubDownstream {
    private final List<LocalResponse> answers = new ArrayList<>();

    private Caller(VirtualLoop loop) {
      super(loop);
    }

    @Override
    public void head(HttpResponse head) {
      throw new AssertionError("no pod answers");
    }

    @Override
    public void answer(LocalResponse answer) {
      answers.add(answer);
    }

    @Override
    public void abort() {
      exchange = null;
    }

    @Override
    public void ended() {
      exchange = null;
    }
  }

  private Caller send(String... headers) {
    var caller = new Caller(loop);
    callers.add(caller);
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        HeaderFieldList.CHECKED);
    request.headers().set("Host", "hello.example");
    for (int i = 0; i < headers.length; i += 2) {
      request.headers().set(headers[i], headers[i + 1]);
    }
    dispatcher.dispatch(request, RequestVersion.HTTP_1_1, caller);
    loop.run();
    return caller;
  }

  private Caller navigate() {
    return send("Sec-Fetch-Mode", "navigate", "Accept", "text/html,*/*;q=0.8");
  }

  private LocalResponse poll() {
    return send("K-Network-Probe", "waiting-page", "Accept", "*/*").answers.getFirst();
  }

  private void pods(DestinationSet now) {
    starts.listed(
        new PrivateEndpoints(ID, new PodsByReadiness(DestinationSet.NONE, now),
            PodsByReadiness.NONE));
    starts.published(HealthyDestinations.pods(ID, now));
    throttler.onDestinations(HealthyDestinations.pods(ID, now));
    loop.run();
  }

  @Test
  void namesTheRequestOnThePage() {
    var browser = send("Sec-Fetch-Mode", "navigate", "Accept", "text/html", "X-Request-Id",
        "7f3c<1>");

    loop.advance(Duration.ofSeconds(1));

    assertThat(browser.answers).singleElement().satisfies(page -> assertThat(page.body())
        .contains("Request <code>7f3c&lt;1&gt;</code>"));
  }

  @Test
  void answersANavigationAfterASecondAndHoldsAllOtherRequests() {
    var browser = navigate();
    var program = send("Accept", "application/json");
    loop.advance(Duration.ofMillis(999));
    assertThat(browser.answers).isEmpty();

    loop.advance(Duration.ofMillis(1));

    assertThat(browser.answers).singleElement().satisfies(page -> {
      assertThat(page.status()).isEqualTo(503);
      assertThat(page.headers()).containsEntry("Cache-Control", "no-store")
          .containsKey("Retry-After");
      assertThat(page.body()).contains("is starting", "&quot;requestedMillis&quot;:1000");
    });
    loop.advance(Duration.ofSeconds(20));
    assertThat(program.answers).isEmpty();
  }

  @Test
  void keepsTheStartRequestedUntilThePodIsThere() {
    // given a page, whose navigation has left
    navigate();
    loop.advance(Duration.ofSeconds(1));
    assertThat(counter.now).isEqualTo(1);
    assertThat(throttler.view(ID).queued()).isEqualTo(1);

    // when it asks, then the start is still the same
    for (int i = 0; i < 300; i++) {
      loop.advance(Duration.ofMillis(500));
      assertThat(poll().body()).contains("\"ready\":false",
          "\"requestedMillis\":" + (1500 + 500 * i) + ",");
    }
    assertThat(throttler.view(ID).queued()).isEqualTo(1);

    // and when a pod is there, then nothing is left behind
    pods(DestinationSet.of(POD));
    assertThat(poll().body()).contains("\"ready\":true");
    assertThat(counter.now).isZero();
    assertThat(throttler.view(ID).queued() + throttler.view(ID).inFlight()).isZero();
    assertThat(starts.latest()).singleElement()
        .returns(RequestOutcome.WAITING_PAGE, ColdStart::outcome)
        .returns(151_000_000_000L, start -> start.phases().pod());
  }

  @Test
  void forgetsAPageThatPollsNoMore() {
    navigate();
    loop.advance(Duration.ofSeconds(66));

    assertThat(counter.now).isZero();
    assertThat(throttler.view(ID).queued()).isZero();
    assertThat(starts.latest()).singleElement().returns(RequestOutcome.CALLER_GONE,
        ColdStart::outcome);
  }

  @Test
  void queuesAnotherStandInWhereTheFirstWasRejected() {
    navigate();
    loop.advance(Duration.ofSeconds(1));
    throttler
        .onContainerFailure(
            new ContainerFailure(ID, new RevisionStartFailure("ExitCode1", "", "")));
    loop.run();
    assertThat(counter.now).isZero();

    assertThat(poll().body()).contains("\"ready\":false");

    assertThat(counter.now).isEqualTo(1);
  }

  @Test
  void answersWithTheResponseWhereThePodIsThereWithinTheSecond() {
    var browser = navigate();
    loop.advance(Duration.ofMillis(900));
    pods(DestinationSet.of(POD));
    loop.advance(Duration.ofMillis(500));

    assertThat(browser.answers).isEmpty();
    assertThat(throttler.view(ID).inFlight()).isEqualTo(1);
  }

  @Test
  void holdsANavigationThatWaitsForItsTurnOnARunningPod() {
    revision = new Revision(ID, "", PortProtocol.HTTP1, 1, RequestTimeouts.DEFAULT, true, null,
        Map.of(), Map.of(), null);
    revisions.put(revision);
    send("Accept", "application/json");
    var browser = navigate();
    pods(DestinationSet.of(POD));
    pod.accepts();

    loop.advance(Duration.ofSeconds(20));

    assertThat(throttler.view(ID).inFlight()).isEqualTo(1);
    assertThat(throttler.view(ID).queued()).isEqualTo(1);
    assertThat(browser.answers).isEmpty();
  }

  @Test
  void isNotForRevisionsWithoutIt() {
    revision = revision(Map.of("activator.dev/waiting-page", "off"));
    revisions.put(revision);
    var browser = navigate();
    loop.advance(Duration.ofSeconds(20));

    assertThat(browser.answers).isEmpty();
    assertThat(poll().status()).isEqualTo(400);
  }

  @Test
  void runsNoScriptButItsOwn() throws Exception {
    var page = WaitingPageTemplate.DEFAULT.page(
        new StartStatus(false, "</script><script>alert(1)</script>", false, null, null,
            Duration.ZERO),
        1,
        "<script>");

    assertThat(Pattern.compile("<script").matcher(page.body()).results()).hasSize(1);
    assertThat(page.headers().get("Content-Security-Policy")).contains("default-src 'none'")
        .doesNotContain("unsafe", "http");
    for (var element : List.of("script", "style")) {
      var inside = Pattern.compile("<" + element + "[^>]*>(.*)</" + element + ">", Pattern.DOTALL)
          .matcher(page.body());
      assertThat(inside.find()).isTrue();
      assertThat(page.headers().get("Content-Security-Policy")).contains(
          element + "-src 'sha256-" + Base64.getEncoder().encodeToString(
              MessageDigest.getInstance("SHA-256").digest(
                  inside.group(1).getBytes(StandardCharsets.UTF_8))));
    }
  }

  @Test
  void usesTheOperatorsPage_whenItHasTheScriptPlaceholder() {
    var own = WaitingPageTemplate.of("<h1>Soon</h1>{{script}}");

    assertThat(own.page(StartStatus.UNKNOWN, 1, "").body())
        .startsWith("<h1>Soon</h1><script data-");
    assertThat(
        WaitingPageTemplate.of("{{script}}{{request}}").page(StartStatus.UNKNOWN, 1, "a<b")
            .body())
        .endsWith("<p class=\"small\">Request <code>a&lt;b</code></p>\n");
    assertThatThrownBy(() -> WaitingPageTemplate.of("<h1>Soon</h1>"))
        .hasMessageContaining("{{script}}");
  }
}
