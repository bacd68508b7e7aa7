package dev.activator.ext.coldstarts;

import static dev.activator.observability.FakeRequest.HELLO;
import static dev.activator.observability.FakeRequest.OTHER_POD;
import static dev.activator.observability.FakeRequest.POD;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.within;

import dev.activator.testing.TestRevisions;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.HttpLabels;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases;
import dev.activator.ext.coldstarts.ColdStartRecorder.LabelledBy;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.testing.Scrape;
import dev.activator.testing.Seeds;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ColdStartRecorderTest {
  private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
  private static final long MILLI = 1_000_000;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final Meters meters = new Meters();
  private final TestRevisions revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
  private final ColdStartRecorder starts = new ColdStartRecorder(revisions.live, loop::nanoTime,
      meters,
      Clock.fixed(NOON, ZoneOffset.UTC), LabelledBy.NONE);

  @Test
  void cutsTheTimeOfARequestThatMadeARevisionStart() {
    // given a pod that is listed after 800 ms, answers after 10 more, and is dialled for 2
    var request = waiting();
    loop.advance(ofMillis(800));
    listed(DestinationSet.of(POD));
    loop.advance(ofMillis(10));
    published(DestinationSet.of(POD));
    loop.advance(ofMillis(1));
    request.granted(POD);
    loop.advance(ofMillis(2));
    request.connected();
    loop.advance(ofMillis(4));
    request.responding(201);

    assertThat(latest()).containsExactly(new ColdStart(HELLO, NOON.minusMillis(817),
        new RequestPhases(800 * MILLI, 10 * MILLI, MILLI, 2 * MILLI, 4 * MILLI),
        Map.of(StartPhase.POD, 800 * MILLI, StartPhase.ANSWER, 10 * MILLI), RequestOutcome.ANSWERED,
        201));
    assertThat(request.phases().serverTiming()).isEqualTo("pod;dur=800.000, probe;dur=10.000,"
        + " queue;dur=1.000, dial;dur=2.000, first-byte;dur=4.000, total;dur=817.000");
  }

  @Test
  void countsAPodThatWasListedBeforeAsProbing() {
    listed(DestinationSet.of(POD));
    loop.advance(ofMillis(100));
    var request = waiting();
    loop.advance(ofMillis(30));
    published(DestinationSet.of(POD));
    request.granted(POD);
    request.responding(200);

    assertThat(latest()).singleElement().extracting(ColdStart::phases)
        .isEqualTo(new RequestPhases(0, 30 * MILLI, 0, 0, 0));
  }

  @Test
  void isNotConcernedWithRequestsThatWaitForTheirTurn() {
    listed(DestinationSet.of(POD));
    published(DestinationSet.of(POD));
    loop.advance(ofMillis(5));
    var request = waiting();
    loop.advance(ofMillis(30));
    // a second pod is no start
    published(DestinationSet.of(POD, OTHER_POD));
    request.granted(OTHER_POD);
    loop.advance(ofMillis(3));
    request.responding(200);

    assertThat(latest()).isEmpty();
    assertThat(request.phases().serverTiming()).isEqualTo(
        "queue;dur=30.000, dial;dur=0.000, first-byte;dur=3.000, total;dur=33.000");
  }

  @Test
  void chargesAPodThatNeverAnswersToTheProbeAlsoIfTheRequestIsGivenUp() {
    for (var outcome : new RequestOutcome[]{RequestOutcome.REQUEST_TIMEOUT,
        RequestOutcome.CALLER_GONE}) {
      var request = waiting();
      loop.advance(ofMillis(400));
      listed(DestinationSet.of(POD));
      loop.advance(ofMillis(600));
      request.ended(outcome, 504);

      assertThat(latest().getFirst().phases())
          .isEqualTo(new RequestPhases(400 * MILLI, 600 * MILLI, 0, 0, 0));
      listed(DestinationSet.NONE);
    }
  }

  @Test
  void chargesTheTimeBetweenTwoPodsToThePod() {
    // given a pod that is replaced before it ever answers
    var request = waiting();
    loop.advance(ofMillis(10));
    listed(DestinationSet.of(POD));
    loop.advance(ofMillis(100));
    listed(DestinationSet.NONE);
    loop.advance(ofMillis(20));
    listed(DestinationSet.of(OTHER_POD));
    loop.advance(ofMillis(3));
    published(DestinationSet.of(OTHER_POD));
    request.granted(OTHER_POD);
    request.responding(200);

    assertThat(latest()).singleElement().extracting(ColdStart::phases)
        .isEqualTo(new RequestPhases(30 * MILLI, 103 * MILLI, 0, 0, 0));
  }

  @Test
  void isNotConcernedWithRequestsThatWaitedForTheirTurnWhenThePodWasReplaced() {
    listed(DestinationSet.of(POD));
    published(DestinationSet.of(POD));
    var request = waiting();
    loop.advance(ofMillis(30));
    published(DestinationSet.NONE);
    loop.advance(ofMillis(30));
    published(DestinationSet.of(OTHER_POD));
    request.granted(OTHER_POD);
    request.responding(200);

    assertThat(latest()).isEmpty();
  }

  @Test
  void isNotConcernedWithRequestsThatHadAPodWhichRefusedThem() {
    published(DestinationSet.of(POD));
    var request = FakeRequest.of(starts, loop, revisions);
    request.begin();
    request.granted(POD);
    request.undelivered("connection refused");
    published(DestinationSet.NONE);
    request.queued();
    loop.advance(ofMillis(30));
    published(DestinationSet.of(OTHER_POD));
    request.granted(OTHER_POD);
    request.responding(200);

    assertThat(latest()).isEmpty();
  }

  @Test
  void remembersOneOfTheRequestsThatWaitedForOneStartAndEachOutcome() {
    var first = waiting();
    var second = waiting();
    var impatient = waiting();
    impatient.ended(RequestOutcome.CALLER_GONE, 499);
    published(DestinationSet.of(POD));
    for (var request : new FakeRequest[]{first, second}) {
      request.granted(POD);
      request.responding(200);
      request.ended(RequestOutcome.ANSWERED, 200);
    }
    // and the next start
    published(DestinationSet.NONE);
    var next = waiting();
    published(DestinationSet.of(POD));
    next.granted(POD);
    next.responding(200);

    assertThat(latest()).extracting(ColdStart::outcome).containsExactly(
        RequestOutcome.ANSWERED,
        RequestOutcome.ANSWERED, RequestOutcome.CALLER_GONE);
  }

  @Test
  void keepsAHundred() {
    for (int i = 0; i < 150; i++) {
      var request = waiting();
      published(DestinationSet.of(POD));
      request.granted(POD);
      request.responding(200 + i);
      published(DestinationSet.NONE);
    }

    assertThat(latest()).hasSize(100);
    assertThat(latest().getFirst().status()).isEqualTo(349);
  }

  @Test
  void measuresHowLongAPodTakesFromBeingListedToItsRequests() {
    listed(DestinationSet.of(POD));
    loop.advance(ofMillis(7));
    listed(DestinationSet.of(POD, OTHER_POD));
    loop.advance(ofMillis(1));
    published(DestinationSet.of(POD));
    published(DestinationSet.of(POD, OTHER_POD));

    loop.run();
    assertThat(Scrape.of(meters, "activator_pod_reaction_seconds_count"))
        .containsExactly("activator_pod_reaction_seconds_count 2");
    var sum = Scrape.of(meters, "activator_pod_reaction_seconds_sum ").getFirst();
    assertThat(Double.parseDouble(sum.substring(sum.lastIndexOf(' '))))
        .isCloseTo(0.009, within(1e-15));
  }

  /** A start of which everything is known: the scale, the pod's status, and what was probed. */
  private final class Known {
    private final long scaled = loop.nanoTime() + 100 * MILLI;
    private long listens = Long.MIN_VALUE;

    Duration scaledFromZero(RevisionId id) {
      return Duration.ofNanos(loop.nanoTime() - scaled);
    }

    @Nullable Duration accepts(RevisionId id, Destination pod) {
      return listens == Long.MIN_VALUE ? null : Duration.ofNanos(loop.nanoTime() - listens);
    }
  }

  private void progress(StartPhase... ended) {
    var ends = new EnumMap<StartPhase, Instant>(StartPhase.class);
    for (var phase : ended) {
      ends.put(phase, NOON);
    }
    starts.progress(new RevisionStartProgress(HELLO, "pod-1", ends, "", "", Duration.ZERO));
  }

  private FakeRequest answeredBeforeItsStatusIsRead() {
    var known = new Known();
    starts.timings(known::scaledFromZero, known::accepts);
    var request = waiting();
    loop.advance(ofMillis(300));
    starts.progress(RevisionStartProgress.none(HELLO));
    progress(StartPhase.CREATE, StartPhase.SCHEDULE);
    loop.advance(ofMillis(2000));
    listed(DestinationSet.of(POD));
    loop.advance(ofMillis(50));
    known.listens = loop.nanoTime();
    loop.advance(ofMillis(7));
    published(DestinationSet.of(POD));
    request.granted(POD);
    request.responding(200);
    loop.run();
    return request;
  }

  private Map<StartPhase, Long> split() {
    return latest().getFirst().start();
  }

  @Test
  void splitsAStart_onceTheStatusOfItsPodSaysThatItsContainersRun() {
    answeredBeforeItsStatusIsRead();
    assertThat(split()).containsExactly(entry(StartPhase.SCALE, 100 * MILLI),
        entry(StartPhase.CREATE, 200 * MILLI), entry(StartPhase.SCHEDULE, 0L),
        entry(StartPhase.POD, 2000 * MILLI), entry(StartPhase.LISTEN, 50 * MILLI),
        entry(StartPhase.ANSWER, 7 * MILLI));
    assertThat(measured()).isEmpty();

    // its status is read half a second after it answered: the clock of the test stands still
    loop.advance(ofMillis(500));
    starts.progress(new RevisionStartProgress(HELLO, "pod-1",
        Map.of(StartPhase.CREATE, NOON.minusMillis(2557), StartPhase.SCHEDULE,
            NOON.minusMillis(2500), StartPhase.CONTAINER, NOON.minusMillis(1557)),
        "", "", Duration.ZERO));

    assertThat(split()).containsExactly(entry(StartPhase.SCALE, 100 * MILLI),
        entry(StartPhase.CREATE, 200 * MILLI), entry(StartPhase.SCHEDULE, 57 * MILLI),
        entry(StartPhase.CONTAINER, 943 * MILLI), entry(StartPhase.LIST, 1000 * MILLI),
        entry(StartPhase.LISTEN, 50 * MILLI), entry(StartPhase.ANSWER, 7 * MILLI));
    assertThat(measured()).containsExactlyInAnyOrder("scale 1", "create 1", "schedule 1",
        "container 1", "list 1", "listen 1", "answer 1");

    // and what comes later changes nothing
    progress(StartPhase.CREATE);
    starts.progressEnded(HELLO);
    assertThat(split()).containsKey(StartPhase.CONTAINER);
    assertThat(measured()).contains("create 1");
  }

  @Test
  void splitsAStartByWhatIsKnown_ifItsPodsAreNotReadAnyMore() {
    answeredBeforeItsStatusIsRead();
    starts.progressEnded(HELLO);

    assertThat(split()).containsKeys(StartPhase.SCHEDULE, StartPhase.POD);
    assertThat(measured()).contains("create 1", "pod 1", "answer 1").doesNotContain("container 1");
  }

  @Test
  void splitsAStartByWhatIsKnown_ifItsPodsAreGone() {
    answeredBeforeItsStatusIsRead();
    published(DestinationSet.NONE);

    assertThat(measured()).contains("create 1", "pod 1", "answer 1");
  }

  @Test
  void measuresAStartOnce_howeverManyRequestsWaitedForIt() {
    var first = waiting();
    var second = waiting();
    published(DestinationSet.of(POD));
    for (var request : new FakeRequest[]{first, second}) {
      request.granted(POD);
      request.responding(200);
    }

    assertThat(measured()).containsExactlyInAnyOrder("pod 1", "answer 1");
  }

  @Test
  void splitsTheTimeOfARequestThatWasGivenUp() {
    var request = waiting();
    loop.advance(ofMillis(300));
    progress(StartPhase.CREATE, StartPhase.SCHEDULE);
    loop.advance(ofMillis(700));
    request.ended(RequestOutcome.CALLER_GONE, 499);

    assertThat(split()).containsExactly(entry(StartPhase.CREATE, 300 * MILLI),
        entry(StartPhase.SCHEDULE, 0L), entry(StartPhase.PREPARE, 700 * MILLI));
    assertThat(measured()).isEmpty();
  }

  @Test
  void showsWhatAStartWaitsFor() {
    waiting();
    loop.advance(ofMillis(300));
    starts.progress(new RevisionStartProgress(HELLO, "pod-1", Map.of(StartPhase.CREATE, NOON,
        StartPhase.SCHEDULE, NOON, StartPhase.INIT, NOON), "ErrImagePull", "no such image",
        Duration.ZERO));
    loop.advance(ofMillis(4000));

    var view = starts.view(HELLO);
    assertThat(view.current()).isEqualTo(StartPhase.CONTAINER);
    assertThat(view.phases(ofMillis(4300))).containsEntry(StartPhase.CONTAINER, 4000 * MILLI);
    assertThat(view.pod() + " " + view.reason()).isEqualTo("pod-1 ErrImagePull");

    published(DestinationSet.of(POD));
    assertThat(starts.view(HELLO)).isNull();
  }

  @Test
  void forgetsThePodOfTheLastStart() {
    answeredBeforeItsStatusIsRead();
    starts.progressEnded(HELLO);
    published(DestinationSet.NONE);
    listed(DestinationSet.NONE);
    starts.timings(_ -> null, (_, _) -> null);
    loop.advance(ofMillis(60_000));
    waiting();

    assertThat(starts.view(HELLO).phases(Duration.ZERO)).isEmpty();
    assertThat(starts.view(HELLO).current()).isEqualTo(StartPhase.POD);
  }

  /** Phases and how many starts had them. */
  private List<String> measured() {
    loop.run();
    return Scrape.of(meters, "activator_start_duration_seconds_count").stream()
        .map(line -> line.replaceAll(".*phase=\"(.*)\"} ", "$1 ")).toList();
  }

  /** Pods come and go while requests wait: the phases never overlap, and leave no gap. */
  @Test
  void cutsTimeWithoutGapOrOverlap() {
    Seeds.each(seed -> new ColdStartRecorderTest().cutsTimeWithoutGapOrOverlap(seed));
  }

  private void cutsTimeWithoutGapOrOverlap(long seed) {
    var random = new Random(seed);
    for (int i = 0; i < 20; i++) {
      var request = FakeRequest.of(starts, loop, revisions);
      request.begin();
      request.queued();
      long begin = loop.nanoTime();
      for (int step = 0; step < random.nextInt(6); step++) {
        loop.advance(ofMillis(random.nextInt(50)));
        switch (random.nextInt(7)) {
          case 0 -> listed(DestinationSet.of(POD));
          case 1 -> published(DestinationSet.of(POD));
          case 2 -> published(DestinationSet.NONE);
          case 3 -> progress(StartPhase.CREATE, StartPhase.SCHEDULE);
          case 4 -> progress(StartPhase.CREATE, StartPhase.CONTAINER);
          case 5 -> starts.progressEnded(HELLO);
          default -> starts.podsGone(HELLO);
        }
      }
      boolean granted = random.nextBoolean();
      if (granted) {
        request.granted(POD);
        loop.advance(ofMillis(random.nextInt(5)));
        if (random.nextBoolean()) {
          request.connected();
        }
        loop.advance(ofMillis(random.nextInt(5)));
        request.responding(200);
      } else {
        request.ended(RequestOutcome.QUEUE_TIMEOUT, 504);
      }
      var phases = request.phases();
      assertThat(phases.totalNanos()).isEqualTo(loop.nanoTime() - begin);
      for (var phase : RequestPhases.Phase.values()) {
        assertThat(phases.of(phase)).as(phase.toString()).isNotNegative();
      }
      assertThat(latest()).allSatisfy(start -> {
        var split = start.start().values();
        assertThat(split).allMatch(nanos -> nanos >= 0);
        assertThat(split.isEmpty()
            ? start.phases().pod() + start.phases().probe()
            : split.stream().mapToLong(Long::longValue).sum())
            .isEqualTo(start.phases().pod() + start.phases().probe());
      });
    }
  }

  private FakeRequest waiting() {
    var request = FakeRequest.of(starts, loop, revisions);
    request.begin();
    request.queued();
    return request;
  }

  private void listed(DestinationSet ready) {
    starts
        .listed(new PrivateEndpoints(HELLO, new PodsByReadiness(DestinationSet.NONE, ready),
            PodsByReadiness.NONE));
  }

  /** What is recorded, after the tasks that record it. */
  private List<ColdStart> latest() {
    loop.run();
    return starts.latest();
  }

  private void published(DestinationSet now) {
    starts.published(HealthyDestinations.pods(HELLO, now));
  }

  @Test
  void reportsTheHistogramByRevision_whenEnabled() {
    var labelled = new ColdStartRecorder(revisions.live, loop::nanoTime, meters,
        Clock.fixed(NOON, ZoneOffset.UTC),
        LabelledBy.REVISION);
    int most = ColdStartRecorder.MAX_LABELLED_REVISIONS;
    IntStream.range(0, most + 2).forEach(i -> coldStart(labelled, "r" + i));

    assertThat(starts(meters)).hasSize(most + 1).containsEntry("r0", 1L)
        .containsEntry(HttpLabels.OTHER, 2L);

    revisions.remove(new RevisionId("default", "r0"));
    coldStart(labelled, "another");
    assertThat(starts(meters)).hasSize(most + 1).doesNotContainKey("r0")
        .containsEntry("another", 1L);
  }

  @Test
  void keepsNothingOfADeletedRevision_whenItsRequestsEndLater() {
    var labelled = new ColdStartRecorder(revisions.live, loop::nanoTime, meters,
        Clock.fixed(NOON, ZoneOffset.UTC),
        LabelledBy.REVISION);
    revisions.put(named("r"));
    var queued = queued(labelled, "r");
    var started = queued(labelled, "r");

    revisions.remove(new RevisionId("default", "r"));
    var late = queued(labelled, "r");
    queued.ended(RequestOutcome.REVISION_GONE, 404);
    late.ended(RequestOutcome.REVISION_GONE, 404);
    started.ended(RequestOutcome.QUEUE_TIMEOUT, 504);

    assertThat(starts(meters)).doesNotContainKey("r");
  }

  private static Revision named(String name) {
    var hello = FakeRequest.revision(Map.of());
    return new Revision(new RevisionId("default", name), hello.uid(), hello.protocol(), 0,
        hello.timeouts(), true, null, hello.labels(), hello.annotations(), null);
  }

  private FakeRequest queued(ColdStartRecorder starts, String revision) {
    var request = FakeRequest.of(starts, loop, revisions.of(named(revision).id()));
    request.begin();
    request.queued();
    return request;
  }

  private void coldStart(ColdStartRecorder starts, String revision) {
    revisions.put(named(revision));
    queued(starts, revision).ended(RequestOutcome.QUEUE_TIMEOUT, 504);
  }

  /** Cold starts by the name of the revision. */
  private Map<String, Long> starts(Meters meters) {
    loop.run();
    var starts = new TreeMap<String, Long>();
    var coldStarts = meters.collect().stream().filter(metric -> metric.getMetadata()
        .getPrometheusName().equals("activator_cold_start_duration_seconds"))
        .map(HistogramSnapshot.class::cast).findFirst().orElseThrow();
    for (var series : coldStarts.getDataPoints()) {
      if (series.getLabels().get("phase").equals("total")) {
        starts.merge(series.getLabels().get(MetricDefinition.Names.REVISION), series.getCount(),
            Long::sum);
      }
    }
    return starts;
  }
}
