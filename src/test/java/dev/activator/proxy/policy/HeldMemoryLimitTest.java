package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeldMemoryLimitTest {
  private static final long BYTES = 256_000;
  /** What is each revision's own. */
  private static final long OWN = 1_000;

  private final HeldMemoryLimit bound = new HeldMemoryLimit(BYTES);

  @ParameterizedTest(name = "{2}: {0} held, {1} of them for the revision")
  @CsvSource({"0, 0, nothing, false, false", "64000, 64000, a quarter by one, false, false",
      "64001, 64001, more by one, false, true", "64000, 0, a quarter by others, false, false",
      "100000, 28000, all that bodies leave, false, false",
      "100000, 28001, more than bodies leave, false, true", "127999, 0, nearly half, false, false",
      "128000, 0, half by others, false, true", "128000, 128000, half by one, false, true",
      "128001, 128001, more than half, true, true",
      "192000, 64000, as much as is left, false, true",
      "192000, 64001, more than is left, true, true", "256000, 1000, its own, false, true",
      "256000, 1001, more than its own, true, true", "999999, 1000, far too much, false, true",
      "999999, 1001, far too much, true, true"})
  void isSharedByRevisions(long all, long ofRevision, String what, boolean full, boolean unread) {
    assertThat(bound.isFull(all, ofRevision)).isEqualTo(full);
    assertThat(bound.leavesBodiesUnread(all, ofRevision)).isEqualTo(unread);
  }

  /** One revision and what its requests hold. */
  private static final class Holder {
    private final List<Integer> requests = new ArrayList<>();

    private long bytes() {
      return requests.stream().mapToLong(Integer::longValue).sum();
    }
  }

  @Test
  void keepsARoomForEachRevision() {
    Seeds.each(seed -> new HeldMemoryLimitTest().keepsARoomForEachRevision(seed));
  }

  private void keepsARoomForEachRevision(long seed) {
    var random = new Random(seed);
    int most = 1 + random.nextInt(3_000);
    var revisions = new ArrayList<Holder>();
    for (int i = 1 + random.nextInt(20); i > 0; i--) {
      revisions.add(new Holder());
    }
    int greedy = random.nextInt(revisions.size());
    for (int i = 0; i < 1_000; i++) {
      var one = revisions.get(random.nextBoolean() ? greedy : random.nextInt(revisions.size()));
      long all = revisions.stream().mapToLong(Holder::bytes).sum();
      long its = one.bytes();
      switch (random.nextInt(8)) {
        case 0 -> one.requests.removeIf(_ -> random.nextInt(4) == 0);
        case 1, 2 -> grow(one, all, most, random);
        default -> arrive(one, all, most, random);
      }

      // then no revision is refused for what others hold
      assertThat(bound.isFull(all, its) && its <= OWN).isFalse();
      // and the bound is kept, but for what is each one's own and the last of its requests
      assertThat(revisions.stream().mapToLong(Holder::bytes).sum())
          .isLessThanOrEqualTo(BYTES + revisions.size() * (OWN + most));
      // and a greedy one alone leaves half
      assertThat(revisions.get(greedy).bytes()).isLessThanOrEqualTo(BYTES / 2 + most);
    }
  }

  private void arrive(Holder one, long all, int most, Random random) {
    if (!bound.isFull(all, one.bytes())) {
      one.requests.add(1 + random.nextInt(most));
    }
  }

  /** More is read of a body. */
  private void grow(Holder one, long all, int most, Random random) {
    if (!one.requests.isEmpty() && !bound.leavesBodiesUnread(all, one.bytes())) {
      int which = random.nextInt(one.requests.size());
      one.requests.set(which, one.requests.get(which) + random.nextInt(most));
    }
  }

  @Test
  void refusesALargeHeadThatWouldMakeLargeHeadsTakeMoreThanHalf() {
    var bound = new HeldMemoryLimit(1 << 20);
    int small = HeldMemoryLimit.LARGE_HEAD_BYTES;
    assertThat(bound.refusesHead(0, 1 << 19)).isFalse();
    assertThat(bound.refusesHead(1, 1 << 19)).isTrue();
    assertThat(bound.refusesHead((1 << 19) - small - 1, small + 1)).isFalse();
    assertThat(bound.refusesHead((1 << 19) - small, small + 1)).isTrue();
    assertThat(bound.refusesHead(1 << 20, small)).isFalse();
  }

  @ParameterizedTest(name = "{0} bytes on one of {1} loops: refused {2}")
  @CsvSource({"262144, 1, false", "262145, 1, true", "65536, 4, false", "65537, 4, true"})
  void refusesPartialHeadsThatHoldMoreThanTheirLoopsPartOfAQuarter(long ofLoop, int loops,
      boolean refused) {
    assertThat(new HeldMemoryLimit(1 << 20).refusesPartialHeads(ofLoop, loops)).isEqualTo(refused);
  }

  @ParameterizedTest(name = "{0} of 1000 bytes")
  @CsvSource({"249, true, false, false", "250, false, false, false", "499, false, false, false",
      "500, false, true, false", "999, false, true, false", "1000, false, true, true"})
  void isTightFromHalfOnAndRefusesBodiesWhenFull(long all, boolean relaxed, boolean tight,
      boolean refused) {
    var bound = new HeldMemoryLimit(1_000);

    assertThat(bound.isRelaxed(all)).isEqualTo(relaxed);
    assertThat(bound.isTight(all)).isEqualTo(tight);
    assertThat(bound.refusesBodies(all)).isEqualTo(refused);
  }
}
