package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.Throttler;
import dev.activator.ext.lending.policy.PodSharding;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a borrowed permit costs next to a local one: the CPU time of both activators together, without
 * frames and network. Each pod has one permit.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class LentPermitsBenchmark {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final List<String> ADDRESSES = List.of("10.1.0.1", "10.1.0.2");

  /** Of the one that owns the pod that moves. */
  @Param({"1", "100"})
  int pods;

  private final VirtualLoop world = new VirtualLoop();
  private final Loop loop = new Loop() {
    @Override
    public void execute(Runnable task) {
      world.execute(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return world.schedule(delay, task);
    }

    /** The time stands still, and reading it costs what it does: each borrowed permit has a lease. */
    @Override
    public long nanoTime() {
      return System.nanoTime() == 0 ? 0 : world.nanoTime();
    }
  };
  private final Revision revision = Revision.of(ID, 1);
  private final Activator[] both = new Activator[2];
  private Activator owner;
  private Activator borrower;
  private Throttler alone;
  private LiveRevision live;

  private final class Activator implements QueuedCaller {
    private final PeerId id;
    private final PermitLending lending;
    private final Throttler throttler;
    private final LiveRevision live;
    private @Nullable Permit permit;

    Activator(int number) {
      id = new PeerId(ADDRESSES.get(number), "p");
      lending = new PermitLending(id.address());
      var revisions = new LiveRevisions(_ -> loop);
      throttler = new Throttler(revisions, id.address(),
          ThrottlerOptions.of(10_000), LoopGroup.random(), lending);
      lending.start(loop, (_, message) -> loop.execute(() -> send(1 - number, message)));
      live = revisions.update(revision);
      throttler.onRevision(live);
    }

    private void send(int to, PeerMessage message) {
      both[to].lending.onReceived(id, message);
    }

    void knows(Activator other, List<Destination> all) {
      lending.onActivators(Set.copyOf(ADDRESSES));
      throttler.onPublicAddresses(new PublicEndpointAddresses(ID, ADDRESSES, List.of()));
      throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(all)));
      lending.onConnected(other.id);
    }

    void request() {
      switch (throttler.admit(live, this)) {
        case Permit now -> permit = now;
        case QueueEntry _ -> world.run();
        case ThrottleDecision.NoRoom _ -> throw new IllegalStateException("it waits");
      }
    }

    void end() {
      var held = permit;
      if (held == null) {
        throw new IllegalStateException("no permit");
      }
      permit = null;
      held.release(Ending.ANSWERED);
    }

    @Override
    public Loop loop() {
      return loop;
    }

    @Override
    public void granted(Permit granted) {
      permit = granted;
    }

    @Override
    public void rejected(Rejection reason) {
      throw new IllegalStateException(reason.toString());
    }
  }

  @Setup
  public void link() {
    var owners = new PodSharding(ADDRESSES, true, List.of());
    var all = new ArrayList<Destination>();
    for (int i = 0; all.size() < pods; i++) {
      var pod = new Destination("10.2." + i / 250 + "." + i % 250, 8012);
      if (ADDRESSES.getFirst().equals(owners.owner(pod))) {
        all.add(pod);
      }
    }
    both[0] = new Activator(0);
    both[1] = new Activator(1);
    both[0].knows(both[1], all);
    both[1].knows(both[0], all);
    world.advance(Duration.ofSeconds(3));
    owner = both[0];
    borrower = both[1];
    var revisions = new LiveRevisions(_ -> loop);
    live = revisions.update(revision);
    alone = new Throttler(revisions, "10.9.9.9", ThrottlerOptions.of(10_000),
        LoopGroup.random());
    alone.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(all)));
    world.advance(Duration.ofMillis(1));
    borrower.request();
    borrower.end();
    world.run();
  }

  /** Without another activator. */
  @Benchmark
  public void local() {
    ((Permit) alone.admit(live, owner)).release(Ending.ANSWERED);
  }

  /** It was borrowed before, and stays. */
  @Benchmark
  public void borrowedBefore() {
    ((Permit) borrower.throttler.admit(borrower.live, borrower)).release(Ending.ANSWERED);
  }

  /** With one pod: each request needs the permit from the other activator: six messages for two requests. */
  @Benchmark
  public void movedThereAndBack() {
    borrower.request();
    borrower.end();
    world.run();
    owner.request();
    owner.end();
    world.run();
  }
}
