package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.ext.console.WaitingOverview.PeerReport;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.ext.console.WaitingOverview.LeaderReport;
import dev.activator.revision.WakingExplanations.Waking;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.ext.console.RevisionWaitReport.ProbeReport;
import dev.activator.platform.ScalingReport;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.ColdStartRules.ColdStartFallback;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.ColdStartRules;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.WakingExplanations;
import dev.activator.stats.AutoscalerLink;
import dev.activator.testing.LogLines;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.StubQueuedCaller;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.ProbeClient.ProbeResult;
import ch.qos.logback.classic.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RevisionInspectorTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  private static final RevisionId OTHER = new RevisionId("default", "other");
  private static final Destination POD = new Destination("10.0.0.1", 8012);

  private final VirtualLoop loop = new VirtualLoop();
  private final TestRevisions exist = new TestRevisions(loop);
  private ProbeResult answer = new ProbeResult.Refused("connection refused");
  private AutoscalerLink.View link = new AutoscalerLink.View("ws://autoscaler:8080", true,
      Duration.ofSeconds(9), 0,
      null);
  private final RevisionBackendsManager backends = Make.backends(exist.live, loop,
      (on, request, done) -> on.execute(() -> done.accept(answer)));
  private final Throttler throttler = Make.throttler(exist.live, 10);
  private final Inspected sources = new Inspected();
  private final RevisionInspector inspector = new RevisionInspector(backends, throttler, sources);

  private final class Inspected extends InspectorSources {
    private boolean isStandalone;
    private @Nullable ScalingReport scaling;
    private @Nullable LeaderReport leader;
    private WakingExplanations waking = WakingExplanations.NONE;
    private List<PeerSnapshot> peers = List.of();

    Inspected() {
      super(loop, () -> link);
    }

    @Override
    public List<RevisionId> revisionsOf(RevisionId service) {
      return service.name().equals("web") ? List.of(OTHER, HELLO) : List.of();
    }

    @Override
    public @Nullable RevisionId named(RevisionId id) {
      return exist.get(id) != null ? id : null;
    }

    @Override
    public boolean isScaledService(RevisionId id) {
      return isStandalone;
    }

    @Override
    public @Nullable ScalingReport scaling(RevisionId id) {
      return scaling;
    }

    @Override
    public @Nullable LeaderReport leader() {
      return leader;
    }

    @Override
    public WakingExplanations waking() {
      return waking;
    }

    @Override
    public List<PeerSnapshot> peers() {
      return peers;
    }
  }

  RevisionInspectorTest() {
    backends.healthy().subscribe("test", throttler::onDestinations);
    throttler.unreachable().subscribe("backends",
        now -> backends.onUnreachable(now.revision(), now.destination()));
    exists(HELLO);
  }

  private void exists(RevisionId id) {
    exists(Revision.of(id, 1));
  }

  private void exists(Revision revision) {
    var live = exist.put(revision);
    backends.revision(live);
    throttler.onRevision(live);
  }

  private void request(RevisionId id) {
    var caller = new StubQueuedCaller(loop);
    caller.with(throttler.admit(exist.of(id), caller));
  }

  private RevisionWaitReport report(RevisionId id) {
    var report = inspector.revision(id);
    loop.run();
    return report.join();
  }

  @Test
  void saysThatThereIsNoSuchRevision() {
    var report = report(new RevisionId("default", "nope"));

    assertThat(report.summary()).isEqualTo("There is no revision or Service default/nope.");
    assertThat(report.state()).isEqualTo(WaitState.UNKNOWN);
    assertThat(report.requests()).isNull();
    assertThat(report.whatToDo()).startsWith("Check the namespace and the name");
  }

  @Test
  void namesTheFallbackAndSaysThatItDoesNotExistUntilItDoes() {
    exists(new Revision(HELLO, "u", PortProtocol.HTTP1, 0, RequestTimeouts.DEFAULT, true, null,
        Map.of(), Map.of(), null, new ColdStartRules(List.of(),
            new ColdStartFallback(Duration.ofSeconds(2), OTHER.name(), null), null, List.of()),
        null));

    assertThat(report(HELLO).rules().fallback())
        .isEqualTo("goes to other after 2.0 s, which does not exist: requests wait");
    assertThat(report(HELLO).summary()).endsWith(
        " Its fallback goes to other after 2.0 s, which does not exist: requests wait.");

    exists(OTHER);

    assertThat(report(HELLO).rules().fallback()).isEqualTo("goes to other after 2.0 s");
    assertThat(report(HELLO).summary()).doesNotContain("fallback");
  }

  @Test
  void findsTheRevisionOfAServiceThatHasTheMostRequests() {
    exists(OTHER);
    request(HELLO);

    var report = report(new RevisionId("default", "web"));

    assertThat(report.revision()).isEqualTo("default/hello-00001");
    assertThat(report.siblings()).containsExactly("default/other");
    assertThat(report(OTHER).siblings()).isNull();
  }

  @Test
  void saysForWhatRequestsWait() {
    // given three requests for a revision at zero
    request(HELLO);
    request(HELLO);
    request(HELLO);
    loop.advance(Duration.ofMillis(2100));

    // then it says so
    assertThat(report(HELLO).summary()).isEqualTo("3 requests wait for default/hello-00001: no pod"
        + " is listed; the autoscaler link is up; a pod was first requested 2.1 s ago.");

    // and when a pod is listed that does not answer
    backends.listed(new PrivateEndpoints(HELLO,
        new PodsByReadiness(DestinationSet.NONE, DestinationSet.of(POD)), PodsByReadiness.NONE));
    loop.advance(Duration.ofSeconds(1));
    var report = report(HELLO);

    // then it says what became of its probe
    assertThat(report.state()).isEqualTo(WaitState.NOT_ANSWERING);
    var pod = Objects.requireNonNull(report.pods()).getFirst();
    assertThat(pod.address()).isEqualTo("10.0.0.1:8012");
    assertThat(pod.ready() || pod.serves()).isFalse();
    assertThat(pod.probe()).returns("connection refused", ProbeReport::outcome).returns(0.0,
        ProbeReport::roundTripMillis);
    assertThat(pod.probe().failuresInARow()).isGreaterThan(1);

    // and when it answers, then one request runs and two wait
    answer = new ProbeResult.Answered(200, "queue");
    loop.advance(Duration.ofSeconds(2));
    var busy = report(HELLO);
    assertThat(busy.summary())
        .isEqualTo("2 requests wait for default/hello-00001: the only permit is"
            + " in use on 1 pod; the first has waited 5.1 s.");
    assertThat(Objects.requireNonNull(busy.pods()).getFirst().inFlight()).isOne();
    var requests = Objects.requireNonNull(busy.requests());
    assertThat(requests.inFlight()).isOne();
    assertThat(requests.queued()).isEqualTo(2);
    assertThat(requests.queueCapacity()).isEqualTo(10);
    assertThat(requests.capacity()).isEqualTo(1);
  }

  @Test
  void readsEachRevisionLessOften_whenRequestsOfManyWait() {
    // given a thousand revisions with a request that waits
    var reasons = new WaitReasonCache(exist.live, inspector, throttler, loop);
    throttler.starved().subscribe("test", reasons::onStarved);
    var ids = IntStream.range(0, 1_000).mapToObj(i -> new RevisionId("default", "r" + i)).toList();
    for (var id : ids) {
      exists(id);
      request(id);
    }

    // when a second is over, then 400 of them are read in each second
    loop.advance(Duration.ofMillis(2_000));
    assertThat(known(reasons, ids)).isBetween(380L, 420L);
    loop.advance(Duration.ofMillis(2_000));
    assertThat(known(reasons, ids)).isEqualTo(1_000);
  }

  private static long known(WaitReasonCache reasons, List<RevisionId> ids) {
    return ids.stream().filter(id -> !reasons.of(id).isEmpty()).count();
  }

  @Test
  void notifiesWaitingRequestsOfTheCauseOnceASecond() {
    var reasons = new WaitReasonCache(exist.live, inspector, throttler, loop);
    throttler.starved().subscribe("test", reasons::onStarved);
    exists(OTHER);
    request(OTHER);

    loop.advance(Duration.ofMillis(900));
    assertThat(reasons.of(OTHER)).isEmpty();
    loop.advance(Duration.ofMillis(200));
    assertThat(reasons.of(OTHER)).isEqualTo("no pod is listed");

    backends.listed(new PrivateEndpoints(OTHER,
        new PodsByReadiness(DestinationSet.NONE, DestinationSet.of(POD)), PodsByReadiness.NONE));
    loop.advance(Duration.ofMillis(1100));
    assertThat(reasons.of(OTHER))
        .matches("1 pod is listed, and none answers our probe: connection refused \\(.* times\\)");

    answer = new ProbeResult.Answered(200, "queue");
    loop.advance(Duration.ofSeconds(2));
    request(OTHER);
    loop.run();
    assertThat(reasons.of(OTHER)).isEqualTo("the only permit is in use");
    assertThat(reasons.of(new RevisionId("default", "nope"))).isEmpty();
  }

  @Test
  void logsOneLineWhenARequestHasWaitedForLong_andOneWhenNoneWaitsAnyMore() {
    try (var log = LogLines.of(LongWaitLog.class)) {
      var waits = new LongWaitLog(inspector, throttler, loop);
      throttler.requestWaits().subscribe("test", now -> waits.onRequestWaits(now.revision()));
      request(HELLO);
      request(HELLO);
      loop.advance(Duration.ofSeconds(9));
      assertThat(log.at(Level.WARN)).isEmpty();

      loop.advance(Duration.ofSeconds(60));
      assertThat(log.at(Level.WARN)).singleElement().asString().matches("2 requests wait for"
          + " default/hello-00001: no pod is listed; the autoscaler link is up; a pod was first"
          + " requested 1[0-2](\\.\\d)? s ago[.] Look at the autoscaler's link and log, .*");
      assertThat(log.at(Level.INFO)).isEmpty();

      answer = new ProbeResult.Answered(200, "queue");
      backends.listed(new PrivateEndpoints(HELLO, new PodsByReadiness(
          DestinationSet.of(POD, new Destination("10.0.0.2", 8012)), DestinationSet.NONE),
          PodsByReadiness.NONE));
      loop.advance(Duration.ofSeconds(60));
      assertThat(log.at(Level.INFO)).singleElement().asString().matches(
          "No request waits for default/hello-00001 any more; the longest waited (69|7\\d) s");
      assertThat(log.at(Level.WARN)).hasSize(1);
    }
  }

  @Test
  void logsLongWaitsOfTwentyRevisionsAtMost() {
    try (var log = LogLines.of(LongWaitLog.class)) {
      var waits = new LongWaitLog(inspector, throttler, loop);
      throttler.requestWaits().subscribe("test", now -> waits.onRequestWaits(now.revision()));
      for (int i = 0; i < 30; i++) {
        var id = new RevisionId("default", "r" + i);
        exists(id);
        request(id);
      }

      loop.advance(Duration.ofSeconds(60));

      assertThat(log.at(Level.WARN)).hasSize(21).anyMatch(
          line -> line.startsWith("Requests of more than 20 revisions have waited for 10 s;"));
    }
  }

  @Test
  void countsThePodsOfThisActivatorAlone() {
    // given two pods that answer, and this the second of two activators
    answer = new ProbeResult.Answered(200, "queue");
    throttler.onPublicAddresses(
        new PublicEndpointAddresses(HELLO, List.of("10.9.9.10", "10.9.9.9"), List.of()));
    backends.listed(new PrivateEndpoints(HELLO, new PodsByReadiness(
        DestinationSet.of(POD, new Destination("10.0.0.2", 8012)), DestinationSet.NONE),
        PodsByReadiness.NONE));
    loop.advance(Duration.ofSeconds(1));

    request(HELLO);
    request(HELLO);

    assertThat(report(HELLO).summary())
        .startsWith("1 request waits for default/hello-00001: the only"
            + " permit is in use on 1 pod (this is activator 2 of 2, and has its share of 2 pods)");
  }

  @Test
  void listsThoseForWhichRequestsWaitLongestFirst() {
    exists(OTHER);
    exists(new RevisionId("default", "idle"));
    request(OTHER);
    loop.advance(Duration.ofSeconds(1));
    request(HELLO);
    request(HELLO);
    link = new AutoscalerLink.View("ws://autoscaler:8080", false, Duration.ZERO, 3,
        "connection refused");

    var overview = inspector.overview();
    loop.run();

    var seen = overview.join();
    assertThat(seen.summary()).isEqualTo("3 requests wait for 2 revisions; the autoscaler link is"
        + " down (connection refused).");
    assertThat(seen.revisions()).isEqualTo(3);
    assertThat(seen.waiting()).extracting(WaitingOverview.Waiting::revision)
        .containsExactly("default/other", "default/hello-00001");
    assertThat(seen.waiting()).extracting(WaitingOverview.Waiting::queued).containsExactly(1, 2);
  }

  @Test
  void saysWhichActivatorsAreLinked() {
    sources.peers = List.of(
        new PeerSnapshot("10.0.0.2", "activator-2", PeerSnapshot.State.LINKED, "",
            Duration.ofMillis(1), null),
        new PeerSnapshot("10.0.0.3", "", PeerSnapshot.State.LEGACY, "nothing listens on port 8014",
            Duration.ZERO, null));

    var overview = inspector.overview();
    loop.run();

    assertThat(overview.join().summary()).endsWith("; linked with 1 of 2 other activators"
        + " (10.0.0.3: nothing listens on port 8014).");
    assertThat(overview.join().peers()).containsExactly(
        new PeerReport("10.0.0.2", "activator-2", "linked", null, 1.0),
        new PeerReport("10.0.0.3", null, "legacy", "nothing listens on port 8014", null));
  }

  @Test
  void saysThatNoRequestWaits() {
    var overview = inspector.overview();
    loop.run();

    assertThat(overview.join().summary())
        .isEqualTo("No request waits; the autoscaler link is up.");
    assertThat(report(HELLO).state()).isEqualTo(WaitState.AT_ZERO);
  }

  @Test
  void saysWhichActivatorScalesAndHow() throws Exception {
    var scaled = new ScalingReport(3, 2, 2, "running", "TRUE", "3 = ceil(52 in flight ÷ 20)", null,
        "");
    var leader = new LeaderReport("activator-2", false, 4, 1.5, null);
    var waking = new Waking("shop/front started, which wakes it", List.of());
    sources.isStandalone = true;
    sources.scaling = scaled;
    sources.leader = leader;
    sources.waking = _ -> waking;

    var report = inspector.revision(HELLO);
    var overview = inspector.overview();
    loop.run();

    assertThat(report.get().scaling()).isEqualTo(scaled);
    assertThat(report.get().leader()).isEqualTo(leader);
    assertThat(report.get().summary()).endsWith(". activator-2 scales."
        + " It was last woken because shop/front started, which wakes it.");
    assertThat(report.get().waking()).isEqualTo(waking);
    assertThat(overview.get().leader()).isEqualTo(leader);
    assertThat(overview.get().summary()).isEqualTo("No request waits; activator-2 scales.");
  }

  @Test
  void saysThatAnotherOneHasToStopFirst() throws Exception {
    sources.isStandalone = true;
    sources.scaling = new ScalingReport(0, 0, 0, "waiting", "UNKNOWN", "0", null,
        "it waits until big has stopped (spec.conflictsWith)");

    var report = inspector.revision(HELLO);
    loop.run();

    assertThat(report.get().summary()).contains(
        " It is waiting: it waits until big has stopped (spec.conflictsWith).");
  }

  @Test
  void wordsOfKnativeAreOnlyWhereThereIsKnative() throws Exception {
    sources.isStandalone = true;
    sources.leader = new LeaderReport(null, false, 4, 20, null);
    link = new AutoscalerLink.View("ws://10.0.0.2:8080", false, Duration.ZERO, 3, "refused");
    request(HELLO);

    var waits = inspector.revision(HELLO);
    var unknown = inspector.revision(OTHER);
    var overview = inspector.overview();
    loop.run();

    assertThat(waits.get().summary()).isEqualTo("1 request waits for default/hello-00001: no pod is"
        + " listed; the link to the activator that scales is down (refused); a pod was first"
        + " requested 0 ms ago.");
    assertThat(waits.get().missing()).containsExactly("a pod in the EndpointSlices of its Service",
        "the link to the activator that scales, which alone starts pods: refused");
    assertThat(unknown.get().summary())
        .isEqualTo("There is no ScaledService default/other.");
    assertThat(overview.get().summary()).isEqualTo("1 request waits for 1 revision; the link to the"
        + " activator that scales is down (refused); no activator scales.");
  }

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @CsvSource({"a, true, , this activator scales", "a, false, , a scales",
      ", false, , no activator scales",
      ", false, no answer, no activator scales (no answer)"})
  void namesTheLeader(String pod, boolean here, String problem, String says) {
    var report = new LeaderReport(pod, here, 0, 0, problem);
    assertThat(report.summary()).isEqualTo(says);
    assertThat(report.sentence()).isEqualToIgnoringCase(says + ".");
  }
}
