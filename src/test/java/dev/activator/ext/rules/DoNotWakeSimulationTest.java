package dev.activator.ext.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.FakePod;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Router;
import dev.activator.config.WaitingPageMode;
import dev.activator.testing.TestRevisions;
import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.standalone.autoscaler.ReportBatch;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.LeadershipCheck;
import dev.activator.config.ColdStartRulesReader;
import dev.activator.http.HeaderFieldList;
import dev.activator.lifecycle.Readiness;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.Throttler;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Requests that must not wake, through the product's classes from the router to the autoscaler. */
class DoNotWakeSimulationTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Destination POD = new Destination("10.1.1.1", 8080);
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment", "web");
  private static final Duration WINDOW = Duration.ofSeconds(60);
  private static final Duration START = Duration.ofSeconds(2);
  private static final String RULES = """
      - path: /healthz
        method: GET
        respond: {body: ok}
      - userAgent: Prometheus/
        refuse: {retryAfterSeconds: 30}
      - path: /robots.txt
        respond: {body: "User-agent: *"}
        always: true
      """;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private Revision revision = limited(0);
  private final TestRevisions revisions = new TestRevisions(loop, revision);
  private final Throttler throttler = Make.throttler(revisions.live, 10);
  private final List<RevisionStat> reported = new ArrayList<>();
  private final List<Integer> writes = new ArrayList<>();
  private final Workload workload = new Workload();
  private final Autoscaler autoscaler = new Autoscaler(loop, workload, new LeadershipCheck() {
    @Override
    public boolean mayWrite() {
      return true;
    }

    @Override
    public CompletableFuture<Boolean> confirmed() {
      return CompletableFuture.completedFuture(true);
    }
  }, new ScalingListener() {
  }, new Random(1));
  private final ConcurrencyReporter reporter = new ConcurrencyReporter(revisions.live,
      loop, Duration.ofSeconds(1),
      new StatSink() {
        @Override
        public void atOnce(List<RevisionStat> stats) {
          send(stats, OptionalDouble.empty());
        }

        @Override
        public void report(List<RevisionStat> stats) {
          send(stats, OptionalDouble.of(10_000));
        }
      });
  private final FakePod pod = new FakePod();
  private final List<RequestOutcome> outcomes = new ArrayList<>();
  private final RequestDispatcher dispatcher = dispatcher(List.of());

  private RequestDispatcher dispatcher(List<DoNotWakeRule> known) {
    return Dispatchers
        .with(loop,
            new Router(
                new RevisionResolver.Hosts((host, _, _) -> host.startsWith("web") ? WEB : null),
                _ -> null, revisions.live, Readiness.Ready::new,
                Dispatchers.arrival(WaitingPageMode.OFF, known)),
            throttler::admit, pod)
        .counter(reporter.onLoop(loop))
        .observer(this::saw).build();
  }

  private void saw(Step step, RequestTimeline request) {
    if (step == Step.ENDED && request.outcome() != null) {
      outcomes.add(request.outcome());
    }
  }

  private static Revision limited(int containerConcurrency) {
    return TestValues.withRules(Revision.of(WEB, containerConcurrency),
        ColdStartRulesReader.read(Map.of(), Map.of(ColdStartRulesReader.DO_NOT_WAKE, RULES)));
  }

  private void send(List<RevisionStat> stats, OptionalDouble uptime) {
    reported.addAll(stats);
    autoscaler.received(new ReportBatch("activator-1", uptime,
        stats.stream().map(one -> new ReportBatch.Entry(one.revision(),
            TestValues.sample("activator-1", one.averageConcurrency(), one.requestCount())))
            .toList()));
  }

  /** A Deployment whose pod is ready two seconds after it is wanted. */
  private final class Workload implements ScaleClient<ScaleTarget> {
    private int replicas;
    private long version = 1;

    private Found found() {
      return new Found(replicas, replicas, Long.toString(version));
    }

    @Override
    public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget of) {
      return CompletableFuture.completedFuture(found());
    }

    @Override
    public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget of, Found read,
        int wanted) {
      writes.add(wanted);
      version++;
      replicas = wanted;
      loop.schedule(wanted == 0 ? Duration.ZERO : START, () -> {
        throttler.onDestinations(HealthyDestinations.pods(WEB,
            replicas == 0 ? DestinationSet.NONE : DestinationSet.of(POD)));
        autoscaler.pods(WEB, replicas);
      });
      return CompletableFuture.completedFuture(found());
    }
  }

  private void start() {
    autoscaler.members(Map.of("activator-1", true));
    autoscaler.start();
    autoscaler
        .target(TestValues.scaledTarget(WEB, WORKLOAD, 0, OptionalInt.of(3), OptionalInt.of(5), 0,
            WINDOW, Duration.ofSeconds(300), OptionalInt.empty()));
    reporter.start();
    loop.run();
  }

  private RecordingCaller send(RequestDispatcher to, HttpMethod method, String path,
      String... headers) {
    var caller = new RecordingCaller(loop);
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, path,
        HeaderFieldList.CHECKED);
    request.headers().set("Host", "web.shop");
    for (int i = 0; i < headers.length; i += 2) {
      request.headers().set(headers[i], headers[i + 1]);
    }
    to.dispatch(request, RequestVersion.HTTP_1_1, caller);
    loop.run();
    return caller;
  }

  private RecordingCaller get(String path, String... headers) {
    return send(dispatcher, HttpMethod.GET, path, headers);
  }

  /** The pod answers the request that was just sent to it, if there is one. */
  private void podAnswers() {
    if (pod.isDialled()) {
      var connection = pod.accepts();
      connection.answers(200);
      connection.sends(LastHttpContent.EMPTY_LAST_CONTENT);
      loop.run();
    }
  }

  /** It is up without the autoscaler. */
  private void podStarts() {
    reporter.start();
    throttler.onDestinations(HealthyDestinations.pods(WEB, DestinationSet.of(POD)));
    loop.run();
  }

  /** What ran was reported, and no window of it is left. */
  private void lastReports() {
    loop.advance(Duration.ofSeconds(3));
  }

  @Test
  void oneProbeEveryTenSecondsForAnHourLeavesItAtZeroWithEmptyStatistics() {
    start();

    for (int i = 0; i < 360; i++) {
      loop.advance(Duration.ofSeconds(10));
      assertThat(get("/healthz").answer.body()).isEqualTo("ok");
      assertThat(get("/metrics", "User-Agent", "Prometheus/3.1.0").answer.headers())
          .containsEntry("Retry-After", "30")
          .containsEntry("K-Activator-Reason", "not-woken");
    }

    assertThat(writes).isEmpty();
    assertThat(reported).isEmpty();
    assertThat(throttler.view(WEB).queued() + throttler.view(WEB).inFlight()).isZero();
    assertThat(throttler.start(WEB).requested()).isNull();
    assertThat(outcomes).hasSize(720).containsOnly(RequestOutcome.NOT_WOKEN);
    assertThat(pod.dials()).isZero();
  }

  @Test
  void theSameRequestsReachThePodWhileItIsUp_andDoNotKeepItUp() {
    start();
    var first = get("/");
    loop.advance(START.plusMillis(100));
    podAnswers();
    assertThat(first.statuses).containsExactly(200);
    assertThat(writes).containsExactly(1);
    int fromPod = 0;

    for (int i = 0; i < 60; i++) {
      loop.advance(Duration.ofSeconds(10));
      var probe = get("/healthz");
      podAnswers();
      assertThat(probe.statuses).containsExactly(200);
      fromPod += probe.answer == null ? 1 : 0;
    }

    // one window without requests, and at most one more until it is written
    assertThat(writes).containsExactly(1, 0);
    assertThat(fromPod).isBetween(5, 14);
    assertThat(reported).filteredOn(stat -> stat.requestCount() > 0).hasSize(1);
  }

  @Test
  void isAnsweredByTheRuleAndNotQueued_whenAllPermitsAreTaken() {
    revision = limited(1);
    revisions.put(revision);
    podStarts();
    get("/");

    var probe = get("/healthz");

    assertThat(probe.answer.body()).isEqualTo("ok");
    assertThat(throttler.view(WEB).queued()).isZero();
    assertThat(throttler.view(WEB).inFlight()).isEqualTo(1);
    podAnswers();
    lastReports();
  }

  @Test
  void takesAPermitAsOthersDo() {
    revision = limited(1);
    revisions.put(revision);
    podStarts();
    var probe = get("/healthz");
    var other = get("/");
    assertThat(throttler.view(WEB).inFlight()).isEqualTo(1);
    assertThat(throttler.view(WEB).queued()).isEqualTo(1);

    podAnswers();
    podAnswers();

    assertThat(probe.statuses).containsExactly(200);
    assertThat(other.statuses).containsExactly(200);
    assertThat(outcomes).containsExactly(RequestOutcome.ANSWERED, RequestOutcome.ANSWERED);
    assertThat(throttler.view(WEB).inFlight()).isZero();
    lastReports();
  }

  @Test
  void isAnsweredByTheRule_whenThePodRefusesTheConnection() {
    podStarts();
    var probe = get("/healthz");
    pod.refuses();
    loop.run();

    assertThat(probe.answer.body()).isEqualTo("ok");
    assertThat(pod.dials()).isEqualTo(1);
    assertThat(outcomes).containsExactly(RequestOutcome.NOT_WOKEN);
    assertThat(throttler.view(WEB).queued() + throttler.view(WEB).inFlight()).isZero();
  }

  @Test
  void aRuleThatAlwaysAnswersTakesNoPermit() {
    podStarts();

    assertThat(get("/robots.txt?x=1").answer.body()).isEqualTo("User-agent: *");
    assertThat(pod.dials()).isZero();
  }

  @Test
  void aRequestThatNoRuleMatchesWakesItAsEver() {
    start();
    send(dispatcher, HttpMethod.POST, "/healthz");
    loop.advance(Duration.ofMillis(100));

    assertThat(writes).containsExactly(1);
    assertThat(throttler.view(WEB).queued()).isEqualTo(1);
  }

  @Test
  void knownProbesWakeNothing_ifTheSettingSaysSo() {
    revision = Revision.of(WEB, 0);
    revisions.put(revision);
    start();
    var on = dispatcher(DoNotWakeRule.knownProbes());

    for (var agent : List.of("GoogleHC/1.0", "ELB-HealthChecker/2.0", "Prometheus/3.1.0",
        "kube-probe/1.35")) {
      var probe = send(on, HttpMethod.GET, "/", "User-Agent", agent);
      assertThat(probe.answer.status()).isEqualTo(200);
      assertThat(probe.answer.headers()).containsEntry("K-Activator-Reason", "not-woken");
    }
    assertThat(reported).isEmpty();

    send(dispatcher, HttpMethod.GET, "/", "User-Agent", "GoogleHC/1.0");
    assertThat(reported).hasSize(1);
  }

  @Test
  void aKubeletsProbeOfARevisionReachesItsPod_ifTheSettingSaysSo() {
    revision = Revision.of(WEB, 0);
    revisions.put(revision);
    podStarts();

    send(dispatcher(DoNotWakeRule.knownProbes()), HttpMethod.GET, "/", "User-Agent",
        "kube-probe/1");
    assertThat(pod.dials()).isEqualTo(1);

    var own = send(dispatcher(DoNotWakeRule.knownProbes()), HttpMethod.GET, "/", "User-Agent",
        "kube-probe/1", "Host", "10.9.9.9:8012");
    assertThat(own.answer.headers()).doesNotContainKey("K-Activator-Reason");
    assertThat(pod.dials()).isEqualTo(1);
  }
}
