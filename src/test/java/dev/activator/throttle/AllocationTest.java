package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What requests cost in memory, counted by the JVM: not measured in time, and the same each run. */
class AllocationTest {
  private static final int WARM = 20_000;
  private static final int HELD = 10_000;

  private final ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private long allocated(Runnable task) {
    long before = thread.getCurrentThreadAllocatedBytes();
    task.run();
    return thread.getCurrentThreadAllocatedBytes() - before;
  }

  @ParameterizedTest(name = "cc {0}")
  @ValueSource(ints = {0, 1, 10})
  void aWarmRequestAllocatesNothing(int containerConcurrency) {
    var revision = new OneRevision(containerConcurrency);
    revision.pods(OneRevision.A, OneRevision.B);
    revision.loop.advance(Duration.ofSeconds(10));
    var waiter = new HeldRequest(revision.loop);
    Runnable requests = () -> {
      for (int i = 0; i < WARM; i++) {
        ((Permit) revision.admit(waiter)).release(Ending.ANSWERED);
      }
    };
    requests.run();

    // what else a thread allocates in between, such as for the first call of a method, is a little
    assertThat(allocated(requests)).isLessThan(WARM / 10);
  }

  @ParameterizedTest(name = "cc {0}")
  @ValueSource(ints = {0, 1})
  void aQueuedRequestTakesHalfAKilobyteAtMost(int containerConcurrency) {
    var revision = new OneRevision(containerConcurrency, "activator.dev/queue-capacity", "30000");
    var waiter = new HeldRequest(revision.loop);
    var queued = new ArrayList<QueueEntry>(2 * HELD);
    Quiescence.watch(queued, () -> queued.forEach(QueueEntry::giveUp));
    Runnable requests = () -> {
      for (int i = 0; i < HELD; i++) {
        queued.add((QueueEntry) revision.admit(waiter));
        revision.loop.run();
      }
    };
    requests.run();

    // more than it keeps: the message to the revision's loop is among it
    assertThat(allocated(requests) / HELD).isLessThan(512);
  }
}
