package dev.activator.testing.quiescence;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.informer.InformerHandlerOptions;
import dev.activator.cluster.informer.Informer;
import dev.activator.cluster.informer.VersionedObject;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the check finds, and names. */
class QuiescenceTest {
  private static final Revision HELLO = Revision.of(new RevisionId("ns", "hello"), 1);

  /** As a test has it, and not in a field, which would be checked. */
  private static final class Scene {
    private final VirtualLoop loop = new VirtualLoop();
    private final Throttler throttler = Make.throttler(loop, _ -> HELLO, 10);

    private Scene() {
      throttler.revision(HELLO);
      loop.run();
    }

    private void pod() {
      throttler.destinations(HealthyDestinations.pods(HELLO.id(),
          DestinationSet.of(new Destination("10.0.0.1", 8012))));
      loop.run();
    }
  }

  private static Iterable<String> left(Object root) {
    return Quiescence.remaining(List.of(root), false);
  }

  @Test
  void namesAPermitThatIsNotReleased() {
    var scene = new Scene();
    scene.pod();
    var permit = (Permit) scene.throttler.admit(HELLO, new StubQueuedCaller(scene.loop));

    assertThat(left(scene)).singleElement().asString()
        .startsWith("throttle.PodTracker.inFlight(): 1 (by ");
    permit.release(Ending.ANSWERED);
    assertThat(left(scene)).isEmpty();
  }

  @Test
  void namesAQueueEntryAndItsTimer() {
    var scene = new Scene();
    var entry = (QueueEntry) scene.throttler.admit(HELLO, new StubQueuedCaller(scene.loop));
    scene.loop.run();

    assertThat(left(scene)).anyMatch(it -> it.startsWith("throttle.RevisionPermits.queued: 1"))
        .anyMatch(it -> it.startsWith("throttle.WaitQueue.queue: 1 entries"))
        .anyMatch(it -> it.equals("a timer of throttle.QueueMonitor is set"));
    entry.giveUp();
    assertThat(left(scene)).isEmpty();
  }

  @Test
  void namesBytesThatAreStillCounted() {
    var held = new HeldRequestBytes(new HeldMemoryLimit(1_000));
    held.share().add(7);

    assertThat(left(held)).containsExactly(
        "proxy.exchange.HeldRequestBytes$Share.bytes: 7 (by proxy.exchange.HeldRequestBytes.shares)");
  }

  @Test
  void namesARevisionThatIsDeletedAndKept() {
    var scene = new Scene();

    assertThat(left(scene)).isEmpty();
    assertThat(Quiescence.remaining(List.of(scene), true))
        .anyMatch(it -> it.startsWith("throttle.Throttler.throttlers: 1 entries, one of ns/hello"));
    Deletion.deleteRevisions(scene.throttler);
    assertThat(Quiescence.remaining(List.of(scene), true)).isEmpty();
  }

  @Test
  void namesChangesThatAnInformerOrItsHandlerHasNotHandled() {
    var loop = new VirtualLoop();
    var handlers = new StandingLoop();
    var informer = new Informer<String>("things", loop, Duration.ZERO, (_, seen) -> seen);
    informer.addHandler(_ -> {
    }, InformerHandlerOptions.on(handlers, "slow"));
    informer.sink().replace(List.of(new VersionedObject<>("ns/one", "uid", "1", "one")));

    assertThat(Quiescence.remaining(List.of(informer), true)).singleElement().asString()
        .startsWith("cluster.informer.DeltaQueue.pending: 1 entries, one of ns/one");
    informer.start();
    assertThat(Quiescence.remaining(List.of(informer), true)).singleElement().asString()
        .startsWith("cluster.informer.ProcessorListener.pending: 1 entries, one of ns/one");
    handlers.tasks.removeFirst().run();
    assertThat(Quiescence.remaining(List.of(informer), true)).isEmpty();
  }

  /** A loop whose thread does nothing more. */
  private static final class StandingLoop implements Loop {
    private final List<Runnable> tasks = new ArrayList<>();

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      throw new UnsupportedOperationException("nothing is scheduled");
    }

    @Override
    public long nanoTime() {
      return 0;
    }
  }

  @Test
  void findsNothingInATimerThatIsATests() {
    var loop = new VirtualLoop();
    new ResettableTimer(loop, () -> {
    }).within(Duration.ofDays(1));

    assertThat(left(loop)).isEmpty();
  }
}
