package dev.activator.backend.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import dev.activator.testing.Seeds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FairQueueTest {
  private static final RevisionId A = new RevisionId("ns", "a");
  private static final RevisionId B = new RevisionId("ns", "b");
  private static final RevisionId C = new RevisionId("ns", "c");

  private final ProbeQueue.FairQueue<String> queue = new ProbeQueue.FairQueue<>();

  private String take() {
    return Objects.requireNonNull(queue.take(_ -> true)).probe();
  }

  @Test
  void skipsRevisionsThatMayNotGo() {
    queue.add(A, "a1");
    queue.add(B, "b1");

    assertThat(queue.take(B::equals)).isEqualTo(new ProbeQueue.FairQueue.Turn<>(B, "b1"));
    assertThat(queue.take(B::equals)).isNull();
    assertThat(queue.has(A)).isTrue();
  }

  @Test
  void alternatesBetweenRevisionsAndKeepsTheOrderOfEach() {
    for (var one : List.of("a1", "a2", "a3")) {
      queue.add(A, one);
    }
    queue.add(B, "b1");
    queue.add(C, "c1");
    queue.add(B, "b2");

    var taken = new ArrayList<String>();
    while (!queue.isEmpty()) {
      taken.add(take());
    }
    assertThat(taken).containsExactly("a1", "b1", "c1", "a2", "b2", "a3");
  }

  @Test
  void noRevisionGetsTwoTurnsWhileAnotherWaitsForOne() {
    Seeds.each(seed -> new FairQueueTest().noRevisionGetsTwoTurnsWhileAnotherWaitsForOne(seed));
  }

  private void noRevisionGetsTwoTurnsWhileAnotherWaitsForOne(long seed) {
    var random = new Random(seed);
    var ids = List.of(A, B, C);
    var waiting = new HashMap<RevisionId, Integer>();
    var passedOver = new HashMap<RevisionId, Integer>();
    for (int i = 0; i < 500; i++) {
      if (random.nextInt(5) < 3) {
        var id = ids.get(random.nextInt(3));
        queue.add(id, id.name());
        waiting.merge(id, 1, Integer::sum);
      } else if (!queue.isEmpty()) {
        var id = new RevisionId("ns", take());
        waiting.merge(id, -1, Integer::sum);
        passedOver.put(id, 0);
        ids.stream().filter(other -> !other.equals(id) && waiting.getOrDefault(other, 0) > 0)
            .forEach(other -> assertThat(passedOver.merge(other, 1, Integer::sum))
                .isLessThanOrEqualTo(2));
      }
    }
  }
}
