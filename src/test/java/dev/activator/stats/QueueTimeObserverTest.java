package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import dev.activator.testing.TestRevisions;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.api.Test;

class QueueTimeObserverTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final TestRevisions revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
  /** When the first pod answered, by the loop's clock. */
  private long podServesNanos = Long.MAX_VALUE;
  private final QueueTimeObserver times = new QueueTimeObserver(revisions.live);
  private final RequestObservers observers = new RequestObservers();

  QueueTimeObserverTest() {
    // As what records cold starts does when the wait is over.
    observers.add((step, request) -> {
      if (step == Step.GRANTED || step == Step.ENDED) {
        RequestTimeline.START.set(request, new PodStart(1, 0, podServesNanos));
      }
    });
    observers.add(times);
  }

  private FakeRequest queued(LiveRevision of) {
    var request = FakeRequest.of(observers, loop, of);
    request.begin();
    request.queued();
    return request;
  }

  private FakeRequest queued() {
    return queued(revisions.of(FakeRequest.HELLO));
  }

  private void podServes() {
    podServesNanos = loop.nanoTime();
  }

  private static QueueTimeHistogram one(int millis) {
    var counts = new int[QueueTimeHistogram.BUCKETS];
    counts[QueueTimeHistogram.bucket(Duration.ofMillis(millis))] = 1;
    return QueueTimeHistogram.of(counts);
  }

  private QueueTimeHistogram taken() {
    return times.take().getOrDefault(FakeRequest.HELLO, QueueTimeHistogram.NONE);
  }

  @Test
  void aRequestCountsWhenItGetsAPod_orGivesUp() {
    podServes();
    var served = queued();
    var lost = queued();
    loop.advance(Duration.ofMillis(300));
    assertThat(taken()).isEqualTo(QueueTimeHistogram.NONE);

    served.granted(FakeRequest.POD);
    assertThat(taken()).isEqualTo(one(300));
    served.ended(RequestOutcome.ANSWERED, 200);

    loop.advance(Duration.ofMillis(700));
    lost.ended(RequestOutcome.QUEUE_TIMEOUT, 504);
    assertThat(taken()).isEqualTo(one(1_000));
    assertThat(taken()).as("each is reported once").isEqualTo(QueueTimeHistogram.NONE);
  }

  @Test
  void theTimeOfAColdStartDoesNotCount() {
    var request = queued();
    loop.advance(Duration.ofSeconds(20));
    podServes();
    loop.advance(Duration.ofMillis(30));
    request.granted(FakeRequest.POD);

    assertThat(taken()).isEqualTo(one(30));
  }

  @Test
  void whatDidNotWaitToTheEndDoesNotCount() {
    podServes();
    var all = new ArrayList<FakeRequest>();
    for (int i = 0; i < 4; i++) {
      all.add(queued());
    }
    loop.advance(Duration.ofMillis(500));
    all.get(0).ended(RequestOutcome.WAITING_PAGE, 503);
    all.get(1).fellBackTo(revisions.begun(new RevisionId("testNs", "spare")));
    all.get(1).granted(FakeRequest.POD);
    all.get(2).mayWait = false;
    all.get(2).granted(FakeRequest.POD);
    all.get(3).granted(FakeRequest.POD);
    taken();
    all.get(3).undelivered("refused");
    all.get(3).queued();
    all.get(3).granted(FakeRequest.POD);

    assertThat(taken()).isEqualTo(QueueTimeHistogram.NONE);
    FakeRequest.of(observers, loop, revisions).answered(200, Duration.ofSeconds(1));
    assertThat(taken()).as("it was not queued").isEqualTo(QueueTimeHistogram.NONE);
  }

  @Test
  void thePortsOfAScaledServiceAreCountedTogether() {
    podServes();
    var plain = FakeRequest.revision(Map.of());
    var grpc = new Revision(FakeRequest.HELLO.ofPort("grpc"), plain.uid(), plain.protocol(), 0,
        plain.timeouts(), true, null, Map.of(), Map.of(), null);
    var first = queued();
    var other = queued(revisions.put(grpc));
    loop.advance(Duration.ofMillis(100));
    first.granted(FakeRequest.POD);
    other.granted(FakeRequest.POD);

    assertThat(times.take()).containsOnlyKeys(FakeRequest.HELLO);
  }
}
