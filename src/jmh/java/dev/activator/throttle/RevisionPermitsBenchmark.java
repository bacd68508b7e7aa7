package dev.activator.throttle;

import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.loop.LoopGroup;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the admission of a warm request costs: take a permit of one of four pods, give it
 * back. Next to it a plain semaphore, which knows neither revisions nor pods.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class RevisionPermitsBenchmark {
  private static final RevisionId ID = new RevisionId("ns", "rev");

  @Param({"0", "1", "10"})
  int containerConcurrency;

  private LiveRevision revision;
  private Throttler throttler;
  private QueuedCaller waiter;
  private Semaphore semaphore;

  @Setup
  public void warmUp() {
    var loop = new VirtualLoop();
    var revisions = new LiveRevisions(_ -> loop);
    revision = revisions.update(Revision.of(ID, containerConcurrency));
    throttler = new Throttler(revisions, "10.9.9.9", ThrottlerOptions.of(10_000),
        LoopGroup.random());
    waiter = new HeldRequest(loop);
    var pods = List.of(new Destination("10.0.0.1", 8012), new Destination("10.0.0.2", 8012),
        new Destination("10.0.0.3", 8012), new Destination("10.0.0.4", 8012));
    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(pods)));
    loop.advance(Duration.ofSeconds(10));
    semaphore = new Semaphore(4 * Math.max(1, containerConcurrency));
  }

  @Benchmark
  @Threads(1)
  public void admitted() {
    ((Permit) throttler.admit(revision, waiter)).release(Ending.ANSWERED);
  }

  @Benchmark
  @Threads(2)
  public void admittedOnTwoThreads() {
    ((Permit) throttler.admit(revision, waiter)).release(Ending.ANSWERED);
  }

  @Benchmark
  @Threads(1)
  public boolean semaphore() {
    return exchange();
  }

  @Benchmark
  @Threads(2)
  public boolean semaphoreOnTwoThreads() {
    return exchange();
  }

  private boolean exchange() {
    boolean acquired = semaphore.tryAcquire();
    if (acquired) {
      semaphore.release();
    }
    return acquired;
  }
}
