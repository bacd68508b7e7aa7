package dev.activator.ext.lending.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.policy.IdlePermitDivision.Claim;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdlePermitDivisionTest {
  private static final long NOW = 5_000_000_000L;
  private static final long TOLERANCE = 10;

  @Test
  void recallsAllPermitsFromOneWithoutAQueue_whateverNumberWaitsElsewhere() {
    var claims = List.of(new Claim(0, NOW), new Claim(Integer.MAX_VALUE, NOW - 1_000),
        new Claim(Integer.MAX_VALUE, NOW - 1_000_000_000));

    var divided = IdlePermitDivision.divide(3, claims, NOW, TOLERANCE);

    assertThat(divided.given()).containsExactly(0, 0, 3);
    assertThat(divided.recalled()).containsExactly(Integer.MAX_VALUE, Integer.MAX_VALUE - 3, 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void recallsAsManyAsAreOlderThanTheHoldersOldest(int seed) {
    var random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      var claims = IntStream.range(0, 2 + random.nextInt(3))
          .mapToObj(_ -> new Claim(random.nextInt(20), NOW - random.nextInt(400))).toList();
      int idle = random.nextInt(10);

      var divided = IdlePermitDivision.divide(idle, claims, NOW, TOLERANCE);

      for (int holder = 0; holder < claims.size(); holder++) {
        int expected = 0;
        for (int other = 0; other < claims.size(); other++) {
          expected += other == holder ? 0 : older(claims, divided.given(), other, holder);
        }
        assertThat(divided.recalled()[holder]).as("%s of %s, %s idle", holder, claims, idle)
            .isEqualTo(expected);
      }
    }
  }

  /** Requests that got none, and have waited for longer than the oldest such of the holder. */
  private static int older(List<Claim> claims, int[] given, int other, int holder) {
    int first = given[holder];
    long own = first < claims.get(holder).queued()
        ? arrival(claims.get(holder), first) - TOLERANCE
        : Long.MAX_VALUE;
    return (int) IntStream.range(given[other], claims.get(other).queued())
        .filter(position -> arrival(claims.get(other), position) < own).count();
  }

  private static long arrival(Claim claim, int position) {
    return claim.sinceNanos() + (NOW - claim.sinceNanos()) / claim.queued() * position;
  }
}
