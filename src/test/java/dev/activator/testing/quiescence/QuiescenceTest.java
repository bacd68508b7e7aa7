package dev.activator.testing.quiescence;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.StubQueuedCaller;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.Extension;

/** Leaks on purpose, which the check must find and name. */
class QuiescenceTest {
  private static final Revision HELLO = Revision.of(new RevisionId("ns", "hello"), 1);

  private final VirtualLoop loop = new VirtualLoop();
  private final TestRevisions revisions = new TestRevisions(loop);
  private final Throttler throttler = Make.throttler(revisions.live, Make.OWN_ADDRESS,
      ThrottlerOptions.of(10), new Random(1));

  @Test
  void namesAPermitThatIsNotReleased() {
    throttler.onRevision(revisions.put(HELLO));
    throttler.onDestinations(HealthyDestinations.pods(HELLO.id(),
        DestinationSet.of(new Destination("10.0.0.1", 8012))));
    loop.run();
    var permit = (Permit) throttler.admit(revisions.of(HELLO.id()), new StubQueuedCaller(loop));

    assertThat(Quiescence.left(List.of(throttler, loop))).containsEntry("permits", 1L).hasSize(1);
    permit.release(Ending.ANSWERED);
    assertThat(Quiescence.left(List.of(throttler, loop))).isEmpty();
  }

  @Test
  void namesARequestThatIsStillQueued() {
    throttler.onRevision(revisions.put(HELLO));
    loop.run();
    var entry = (QueueEntry) throttler.admit(revisions.of(HELLO.id()), new StubQueuedCaller(loop));

    assertThat(Quiescence.left(List.of(throttler, loop))).containsEntry("queued requests", 1L);
    entry.giveUp();
    assertThat(Quiescence.left(List.of(throttler, loop))).isEmpty();
  }

  @Test
  void namesBytesThatAreStillCounted() {
    var held = new HeldRequestBytes(new HeldMemoryLimit(1_000));
    held.share().add(7);

    assertThat(Quiescence.left(List.of(held, loop))).containsEntry("held bytes of requests", 7L);
  }

  @Test
  void namesAnObjectThatIsStillReachable() {
    var kept = new Object();

    assertThat(
        Quiescence.kept(List.of(new WeakReference<>(kept), new WeakReference<>(new Object())), 3))
        .hasSize(1).first().isSameAs(kept);
  }

  @Test
  void isAppliedToEveryClass() {
    assertThat(ServiceLoader.load(Extension.class)).anyMatch(Quiescence.class::isInstance);
  }
}
