package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.RevisionAnnotations;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.IdleState.FallingAsleep;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.testing.Make;
import dev.activator.testing.StubQueuedCaller;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IdleAcknowledgerTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final RevisionId GRPC = WEB.ofPort("grpc");
  private static final DestinationSet POD = DestinationSet.of(new Destination("10.0.0.1", 80));

  private final VirtualLoop loop = new VirtualLoop();
  private final TestRevisions revisions = new TestRevisions(loop);
  private final Throttler throttler = Make.throttler(revisions.live, 100);
  private final List<RevisionStat> reports = new ArrayList<>();
  private final IdleAcknowledger acknowledger = new IdleAcknowledger(loop, revisions.live,
      throttler, new StatSink() {
        @Override
        public void atOnce(List<RevisionStat> stats) {
          reports.addAll(stats);
        }

        @Override
        public void report(List<RevisionStat> stats) {
          throw new IllegalStateException("acknowledgements do not wait");
        }
      });

  /** As the cluster publishes it. */
  private void changed(RevisionId id, String falling) {
    var revision = revisions.put(new Revision(id, "", PortProtocol.HTTP1, 0,
        RequestTimeouts.DEFAULT, true, null, Map.of(),
        falling.isEmpty() ? Map.of() : Map.of(RevisionAnnotations.FALLING_ASLEEP, falling), null));
    throttler.onRevision(revision);
    acknowledger.onRevision(revision);
  }

  private void listed(RevisionId id, DestinationSet pods) {
    throttler.onDestinations(HealthyDestinations.pods(id, pods));
    var all = new PodsByReadiness(pods, DestinationSet.NONE);
    acknowledger.onListed(new PrivateEndpoints(id, all, all));
  }

  private void awake(RevisionId id) {
    changed(id, "");
    listed(id, POD);
    loop.run();
  }

  private void falls(RevisionId id, FallingAsleep state) {
    changed(id, state.toString());
    listed(id, DestinationSet.NONE);
    loop.advance(Duration.ofMillis(100));
  }

  private StubQueuedCaller request() {
    var caller = new StubQueuedCaller(loop);
    return caller.with(throttler.admit(revisions.of(WEB), caller));
  }

  @Test
  void acknowledgesAtOnce_ifNothingIsInFlight() {
    awake(WEB);

    falls(WEB, new FallingAsleep(7, 1));

    assertThat(reports).containsExactly(RevisionStat.acknowledgement(WEB, 7));
  }

  @Test
  void waitsUntilTheRequestsInFlightHaveEnded() {
    awake(WEB);
    var running = (Permit) throttler.admit(revisions.of(WEB), new StubQueuedCaller(loop));

    falls(WEB, new FallingAsleep(7, 1));
    assertThat(reports).isEmpty();

    running.release(Ending.ANSWERED);
    loop.advance(Duration.ofMillis(100));
    assertThat(reports).containsExactly(RevisionStat.acknowledgement(WEB, 7));
  }

  @Test
  void saysNothing_beforeItsPodsAreHidden() {
    awake(WEB);

    changed(WEB, new FallingAsleep(7, 1).toString());
    loop.advance(Duration.ofSeconds(5));

    assertThat(reports).isEmpty();
  }

  @Test
  void waitsForAllPorts() {
    awake(WEB);
    awake(GRPC);

    falls(WEB, new FallingAsleep(7, 2));
    assertThat(reports).isEmpty();

    falls(GRPC, new FallingAsleep(7, 2));
    assertThat(reports).containsExactly(RevisionStat.acknowledgement(WEB, 7));
  }

  @Test
  void repeatsIt_untilThePodsMayBeUsedAgain() {
    awake(WEB);
    falls(WEB, new FallingAsleep(7, 1));
    loop.advance(Duration.ofSeconds(3));
    assertThat(reports).hasSize(4);

    awake(WEB);
    loop.advance(Duration.ofSeconds(3));

    assertThat(reports).hasSize(4);
    assertThat(request()).isNotNull();
  }

  @Test
  void aLaterFallIsAnother() {
    awake(WEB);
    falls(WEB, new FallingAsleep(7, 1));
    awake(WEB);

    falls(WEB, new FallingAsleep(9, 1));

    assertThat(reports.getLast()).isEqualTo(RevisionStat.acknowledgement(WEB, 9));
  }
}
