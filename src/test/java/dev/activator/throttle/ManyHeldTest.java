package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.C;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.testing.PatientCaller;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Many requests wait for few permits, and no permit waits for a request. */
class ManyHeldTest {
  private static final Destination D = new Destination("10.0.0.4", 8012);
  private static final Duration SERVICE = Duration.ofMillis(20);
  private static final int HELD = 2_000;
  private static final int CONTAINER_CONCURRENCY = 10;

  private final OneRevision revision = new OneRevision(CONTAINER_CONCURRENCY);
  private final Map<Destination, Integer> running = new HashMap<>();
  private final List<Integer> order = new ArrayList<>();
  private Duration lastEnd = Duration.ZERO;

  /** Runs for a while once its turn has come. */
  private final class Served extends PatientCaller {
    private final int number;

    private Served(int number) {
      super(revision.loop);
      this.number = number;
    }

    @Override
    public void granted(Permit permit) {
      order.add(number);
      int now = running.merge(permit.destination(), 1, Integer::sum);
      assertThat(now).isLessThanOrEqualTo(CONTAINER_CONCURRENCY);
      revision.loop.schedule(SERVICE, () -> {
        running.merge(permit.destination(), -1, Integer::sum);
        lastEnd = revision.loop.elapsed();
        permit.release(Ending.ANSWERED);
      });
    }
  }

  @Test
  void allAreServedInOrderAndInNoMoreTimeThanThatTakes() {
    // given 2,000 requests that take 20 ms each, and room for 40 at once
    for (int i = 0; i < HELD; i++) {
      revision.admit(new Served(i));
    }
    revision.loop.run();

    revision.pods(A, B, C, D);
    revision.loop.advance(Duration.ofSeconds(10));

    // then 50 rounds of 20 ms are one second
    assertThat(order).hasSize(HELD).isSorted();
    assertThat(lastEnd).isEqualTo(Duration.ofSeconds(1));
  }
}
