package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.stats.ConcurrencyReporter.RequestStats;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.testing.Seeds;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConcurrencyReporterTest {
  private static final RevisionId REV1 = new RevisionId("ns", "rev1");
  private static final RevisionId REV2 = new RevisionId("ns", "rev2");
  private static final RevisionId REV3 = new RevisionId("ns", "rev3");

  /** A request from one time to another, in milliseconds. */
  private record Request(RevisionId revision, double fromMillis, double toMillis) {}

  private static Request request(RevisionId revision, double from, double to) {
    return new Request(revision, from, to);
  }

  private static Request start(RevisionId revision, double from) {
    return new Request(revision, from, 1_000_000);
  }

  private static RevisionStat stat(RevisionId revision, double average, double count) {
    return new RevisionStat(revision, average, count);
  }

  /** Loops whose clocks go together, and a reporter on the first. */
  private static final class Office {
    private final List<VirtualLoop> loops;
    private final TestRevisions revisions;
    private final List<RequestCounter> counters;
    private final RecordingSink sink = new RecordingSink();
    private final ConcurrencyReporter reporter;

    Office(int loopCount, double periodMillis) {
      loops = IntStream.range(0, loopCount).mapToObj(i -> VirtualLoop.nearOverflow()).toList();
      revisions = new TestRevisions(loops.getFirst());
      reporter = new ConcurrencyReporter(revisions.live, loops.getFirst(), millis(periodMillis),
          sink);
      counters = loops.stream().map(reporter::onLoop).toList();
    }

    RevisionCount count(int loop, RevisionId revision) {
      return counters.get(loop).of(revisions.begun(revision));
    }

    /** Requests take turns on the loops; what happens at the time of a report happens before it. */
    void play(List<Request> requests) {
      for (int i = 0; i < requests.size(); i++) {
        var request = requests.get(i);
        var loop = loops.get(i % loops.size());
        var count = count(i % loops.size(), request.revision);
        loop.schedule(millis(request.fromMillis), count::arrived);
        loop.schedule(millis(request.toMillis), count::left);
      }
      reporter.start();
    }

    void advanceMillis(double by) {
      for (int step = 0; step < Math.round(by * 10); step++) {
        // The reporter's loop last: what it asks of the others then falls on the same moment.
        for (var loop : loops.reversed()) {
          loop.advance(Duration.ofNanos(100_000));
        }
        exchange();
      }
    }

    void exchange() {
      for (int round = 0; round < 2; round++) {
        loops.reversed().forEach(VirtualLoop::run);
      }
    }
  }

  private static Duration millis(double millis) {
    return Duration.ofNanos(Math.round(millis * 1_000_000));
  }

  static Stream<Arguments> rows() {
    return Stream.of(row("CR-01 two revisions start", 10, 1, start(REV1, 0), start(REV2, 0))
        .then(stat(REV1, 1, 1), stat(REV2, 1, 1)),
        row("CR-02 one request after the other", 2, 2, request(REV1, 0, 1), request(REV1, 1, 2))
            .then(stat(REV1, 1, 1), stat(REV1, 0, 1)),
        row("CR-03 two at once, two reports", 1, 2, start(REV1, 0), start(REV1, 0))
            .then(stat(REV1, 1, 1), stat(REV1, 1, 1), stat(REV1, 2, 0)),
        row("CR-04 idle, forgotten, first again", 1, 2.5, request(REV1, 0, 1), start(REV1, 2.5))
            .then(stat(REV1, 1, 1), stat(REV1, 0, 0), stat(REV1, 0, 0), stat(REV1, 1, 1)),
        row("CR-05 report at the moment of arrival", 1, 1, start(REV1, 1), start(REV2, 1),
            start(REV3, 1)).then(stat(REV1, 1, 1), stat(REV2, 1, 1), stat(REV3, 1, 1),
                stat(REV1, 0, 0), stat(REV2, 0, 0), stat(REV3, 0, 0)),
        row("CR-06 a long and a short one", 2, 2, request(REV1, 0, 2), request(REV1, 0, 1))
            .then(stat(REV1, 1, 1), stat(REV1, 0.5, 1)),
        row("CR-07 three at once", 1, 1, start(REV1, 0), start(REV1, 0), start(REV1, 0))
            .then(stat(REV1, 1, 1), stat(REV1, 2, 2)),
        row("CR-08 three that take no time", 1, 1, request(REV1, 0, 0), request(REV1, 0, 0),
            request(REV1, 0, 0)).then(stat(REV1, 1, 1), stat(REV1, 0, 2)),
        row("CR-09 over two reports, then none", 1, 4, request(REV1, 0, 2))
            .then(stat(REV1, 1, 1), stat(REV1, 0, 0), stat(REV1, 1, 0), stat(REV1, 0, 0)),
        row("CR-10 half a window", 1, 3, request(REV1, 0, 2), request(REV1, 2.5, 3))
            .then(stat(REV1, 1, 1), stat(REV1, 0, 0), stat(REV1, 1, 0), stat(REV1, 0.5, 1)),
        row("CR-11 four, two reports", 1, 2, start(REV1, 0), start(REV1, 0), start(REV1, 0),
            start(REV1, 0)).then(stat(REV1, 1, 1), stat(REV1, 3, 3), stat(REV1, 4, 0)),
        row("two ports of a ScaledService are counted as one", 1, 2, start(REV1, 0),
            start(REV1.ofPort("grpc"), 0), request(REV1.ofPort("grpc"), 0, 2))
            .then(stat(REV1, 1, 1), stat(REV1, 2, 2), stat(REV1, 3, 0)),
        row("CR-14 nobody", 1, 5).then());
  }

  private record Row(String name, double period, double length, List<Request> requests) {
    Arguments then(RevisionStat... expected) {
      return Arguments.of(name, this, List.of(expected));
    }
  }

  private static Row row(String name, double period, double length, Request... requests) {
    return new Row(name, period, length, List.of(requests));
  }

  private static void check(int loops, Row row, List<RevisionStat> expected) {
    var office = new Office(loops, row.period);

    office.play(row.requests);
    office.exchange();
    office.advanceMillis(row.length);

    // Which of two revisions comes first at one moment is not promised.
    for (var revision : List.of(REV1, REV2, REV3)) {
      assertThat(office.sink.all()).filteredOn(stat -> stat.revision().equals(revision))
          .containsExactlyElementsOf(
              expected.stream().filter(stat -> stat.revision().equals(revision)).toList());
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  void oneLoopReports(String name, Row row, List<RevisionStat> expected) {
    check(1, row, expected);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  void twoLoopsReportTheSame(String name, Row row, List<RevisionStat> expected) {
    check(2, row, expected);
  }

  @Test
  void aRevisionIsFirstOnOneLoopOnly() {
    var office = new Office(2, 1_000);

    office.count(0, REV1).arrived();
    office.count(1, REV1).arrived();
    office.exchange();

    assertThat(office.sink.all()).containsExactly(RevisionStat.first(REV1));
  }

  @Test
  void revisionsThatBeginInOneTurnOfALoopAreReportedTogether() {
    var office = new Office(1, 1_000);

    office.count(0, REV1).arrived();
    office.count(0, REV2).arrived();
    office.count(0, REV1).arrived();
    office.exchange();
    office.count(0, REV3).arrived();
    office.exchange();

    assertThat(office.sink.atOnce()).containsExactly(
        List.of(RevisionStat.first(REV1), RevisionStat.first(REV2)),
        List.of(RevisionStat.first(REV3)));
  }

  @Test
  void aRequestOnAnotherLoopKeepsTheRevisionFromBeingFirstAgain() {
    var office = new Office(2, 1);
    office.play(List.of(request(REV1, 0, 1), request(REV1, 0, 10)));
    // by 4 the first loop has forgotten it, the second has not
    office.advanceMillis(4);
    office.sink.all().clear();

    office.count(0, REV1).arrived();

    office.exchange();
    assertThat(office.sink.all()).isEmpty();
    office.advanceMillis(1);
    assertThat(office.sink.all()).containsExactly(stat(REV1, 2, 1));
  }

  @Test
  void aLoopThatIsLateDelaysTheReportAndLosesNothing() {
    var office = new Office(2, 1);
    office.play(List.of(start(REV1, 0), start(REV1, 0)));
    var first = office.loops.get(0);
    var late = office.loops.get(1);
    office.exchange();

    // given three periods in which the second loop does nothing
    first.advance(millis(3));
    assertThat(office.sink.reports()).isEmpty();
    late.advance(millis(3));
    first.run();

    assertThat(office.sink.reports()).hasSize(1);
    assertThat(office.sink.reports().getFirst().getFirst().requestCount()).isEqualTo(1);
  }

  @Test
  void reportsNothingMoreOnceStopped() {
    var office = new Office(1, 1);
    office.play(List.of(start(REV1, 0)));
    office.advanceMillis(1);

    office.reporter.stop();
    office.advanceMillis(5);

    assertThat(office.sink.reports()).hasSize(1);
  }

  /** A link that opens, with the requests of before and after. */
  static Stream<Arguments> openings() {
    return Stream.of(
        row("a request that still waits is told, and no report is due before a period", 10, 15.9,
            start(REV1, 3)).then(stat(REV1, 1, 1)),
        row("it is in the next report, as one that did not arrive in it", 10, 16, start(REV1, 3))
            .then(stat(REV1, 1, 1), stat(REV1, 1, 0)),
        row("all that wait are told, as one request", 10, 16, start(REV1, 1), start(REV1, 2),
            start(REV1, 5)).then(stat(REV1, 3, 1), stat(REV1, 3, 0)),
        row("one that left is not", 10, 15.9, request(REV1, 3, 5)).then(),
        row("nor is it in the next report", 10, 16, request(REV1, 3, 5)).then(stat(REV1, 0, 0)),
        row("one of two left", 10, 16, request(REV1, 3, 5), start(REV1, 4))
            .then(stat(REV1, 1, 1), stat(REV1, 1, 0)),
        row("one that was reported before and is still there is told", 1, 7, start(REV1, 0))
            .then(stat(REV1, 1, 1), stat(REV1, 1, 0)),
        row("the next one of a revision that became idle is its first", 1, 9,
            request(REV1, 2, 3), start(REV1, 7.5))
            .then(stat(REV1, 1, 1), stat(REV1, 0, 0), stat(REV1, 1, 0)),
        row("two revisions, one of which still waits", 10, 16, request(REV1, 1, 2), start(REV2, 1))
            .then(stat(REV1, 0, 0), stat(REV2, 1, 1), stat(REV2, 1, 0)),
        row("nothing was there", 10, 16).then());
  }

  /** The link opens after 6 ms; what was said before is not looked at, as the link dropped it. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("openings")
  void reportsTheCurrentCounts_whenTheLinkOpens(String name, Row row, List<RevisionStat> expected) {
    for (int loops = 1; loops <= 3; loops++) {
      var office = new Office(loops, row.period);
      office.play(row.requests);
      office.exchange();
      office.advanceMillis(6);
      office.sink.all().clear();

      office.reporter.connected();
      office.exchange();
      office.advanceMillis(row.length - 6);

      for (var revision : List.of(REV1, REV2, REV3)) {
        assertThat(office.sink.all()).as("%d loops", loops)
            .filteredOn(stat -> stat.revision().equals(revision)).containsExactlyElementsOf(
                expected.stream().filter(stat -> stat.revision().equals(revision)).toList());
      }
    }
  }

  @Test
  @DisplayName("a report that was under way when the link opened is not sent")
  void aReportThatWasUnderWayIsNotSent() {
    var office = new Office(2, 1);
    office.play(List.of(request(REV1, 0, 0.5)));
    var first = office.loops.get(0);
    var late = office.loops.get(1);
    office.exchange();
    first.advance(millis(1));
    office.sink.all().clear();

    office.reporter.connected();
    late.run();
    first.run();
    office.advanceMillis(2);

    assertThat(office.sink.all()).isEmpty();
  }

  @Test
  void reportsNothingWhenTheLinkOpensOnceStopped() {
    var office = new Office(1, 1);
    office.play(List.of(start(REV1, 0)));
    office.advanceMillis(1);
    office.reporter.stop();
    office.exchange();
    office.sink.all().clear();

    office.reporter.connected();
    office.advanceMillis(5);

    assertThat(office.sink.all()).isEmpty();
  }

  /** However many loops there are, the reports are those of one window a revision. */
  @Test
  void reportsWhatOneWindowWould() {
    Seeds.each(seed -> new ConcurrencyReporterTest().reportsWhatOneWindowWould(seed));
  }

  private void reportsWhatOneWindowWould(long seed) {
    var random = new Random(seed);
    var office = new Office(1 + random.nextInt(3), 1);
    var oracle = new Oracle();
    oracle.advanceTo(office.loops.getFirst().nanoTime());
    office.reporter.start();
    office.exchange();
    var there = new ArrayList<Runnable>();
    for (int i = 1; i <= 200; i++) {
      for (int event = random.nextInt(4); event > 0; event--) {
        if (random.nextInt(20) < 11 && !there.isEmpty()) {
          there.remove(random.nextInt(there.size())).run();
        } else {
          there.add(arrive(office, oracle, random));
        }
      }
      if (i % 40 == 0) {
        there.forEach(Runnable::run);
        there.clear();
      }
      office.advanceMillis(0.1);
      oracle.advanceTo(office.loops.getFirst().nanoTime());
      if (i % 10 == 0) {
        oracle.report();
      }
    }

    // Those of different revisions on different loops are in any order.
    assertThat(byRevision(office.sink.all())).isEqualTo(byRevision(oracle.received));
  }

  private static Map<RevisionId, List<RevisionStat>> byRevision(List<RevisionStat> stats) {
    return stats.stream().collect(Collectors.groupingBy(RevisionStat::revision));
  }

  private static Runnable arrive(Office office, Oracle oracle, Random random) {
    var revision = List.of(REV1, REV2, REV3).get(random.nextInt(3));
    var count = office.count(random.nextInt(office.counters.size()), revision);
    count.arrived();
    oracle.arrived(revision);
    return () -> {
      count.left();
      oracle.left(revision);
    };
  }

  /** One window a revision, as the reference keeps it. */
  private static final class Oracle {
    private final Map<RevisionId, RequestStats> windows = new TreeMap<>();
    private final List<RevisionStat> received = new ArrayList<>();
    private long now;

    void advanceTo(long nanos) {
      now = nanos;
    }

    void arrived(RevisionId revision) {
      if (!windows.containsKey(revision)) {
        windows.put(revision, new RequestStats(now));
        windows.get(revision).reportedAtOnce();
        received.add(RevisionStat.first(revision));
      }
      windows.get(revision).arrived(now);
    }

    void left(RevisionId revision) {
      windows.get(revision).left(now);
    }

    void report() {
      windows.entrySet().removeIf(each -> {
        var totals = each.getValue().report(now);
        received.add(RevisionStat.of(each.getKey(), totals));
        return totals.averageConcurrency() == 0 && totals.inFlight() == 0;
      });
    }
  }

  @ParameterizedTest(name = "{0} loops")
  @ValueSource(ints = {1, 2, 5})
  void aReportHasOneLineARevision(int loops) {
    var office = new Office(loops, 1);
    office.play(IntStream.range(0, 20).mapToObj(i -> start(i % 2 == 0 ? REV1 : REV2, 0)).toList());
    office.exchange();
    office.advanceMillis(1);

    assertThat(office.sink.reports()).hasSize(1);
    assertThat(office.sink.reports().getFirst()).containsExactlyInAnyOrder(stat(REV1, 9, 9),
        stat(REV2, 9, 9));
  }

  @Test
  void goesOnReporting_afterOneLoopFailedToCount() {
    var loop = VirtualLoop.nearOverflow();
    var sink = new RecordingSink();
    var revisions = new TestRevisions(loop);
    var reporter = Quiescence.watch(
        new ConcurrencyReporter(revisions.live, loop, Duration.ofSeconds(1), sink));
    var requests = new BrokenClock(loop);
    var count = reporter.onLoop(requests).of(revisions.begun(REV1));
    reporter.start();
    count.arrived();
    loop.advance(Duration.ofMillis(1_500));
    int before = sink.all().size();

    requests.fails = true;
    assertThatThrownBy(() -> loop.advance(Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class);
    requests.fails = false;
    loop.advance(Duration.ofSeconds(3));

    assertThat(sink.all().size()).isGreaterThan(before);
    count.left();
    loop.advance(Duration.ofSeconds(3));
    reporter.stop();
    loop.run();
  }

  private static final class BrokenClock implements Loop {
    private final Loop loop;
    private boolean fails;

    BrokenClock(Loop loop) {
      this.loop = loop;
    }

    @Override
    public void execute(Runnable task) {
      loop.execute(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return loop.schedule(delay, task);
    }

    @Override
    public long nanoTime() {
      if (fails) {
        throw new IllegalStateException("a bug");
      }
      return loop.nanoTime();
    }
  }
}
