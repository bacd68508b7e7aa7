package dev.activator.ext.coldstarts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.testing.Seeds;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ColdStartBreakdownTest {
  /** Such as {@code create=3 list=5}. */
  private static ColdStartBreakdown split(String known, boolean podsRead) {
    return new ColdStartBreakdown(Arrays.stream(known.split(" ")).filter(one -> !one.isEmpty())
        .map(one -> one.split("="))
        .collect(Collectors.toMap(one -> StartPhase.valueOf(one[0].toUpperCase(Locale.ROOT)),
            one -> Long.parseLong(one[1]))),
        podsRead);
  }

  private static String text(Map<StartPhase, Long> phases) {
    return phases.entrySet().stream().map(one -> one.getKey() + "=" + one.getValue())
        .collect(Collectors.joining(" "));
  }

  @ParameterizedTest(name = "[{0}] until {2} with pods {1}: {3}")
  @CsvSource(delimiter = '|', value = {
      // Pods may not be read.
      "                                       | false | 5  | pod=5",
      "scale=1                                | false | 5  | scale=1 pod=4",
      "list=3                                 | false | 5  | pod=3 listen=2",
      "list=3 listen=4                        | false | 9  | pod=3 listen=1 answer=5",
      "scale=1 list=3 listen=4 answer=5       | false | 5  | scale=1 pod=2 listen=1 answer=1",
      "list=3 answer=5                        | false | 5  | pod=3 answer=2",
      // The phase that goes on is the one after the last that ended.
      "                                       | true  | 5  | create=5",
      "scale=1                                | true  | 5  | scale=1 create=4",
      "create=1                               | true  | 5  | create=1 schedule=4",
      "create=1 schedule=2                    | true  | 5  | create=1 schedule=1 prepare=3",
      "create=1 schedule=2 prepare=3          | true  | 5  | create=1 schedule=1 prepare=1 init=2",
      "create=1 schedule=2 init=2             | true  | 5  | create=1 schedule=1 init=0 container=3",
      "create=1 container=3                   | true  | 5  | create=1 container=2 list=2",
      "create=1 container=3 list=4            | true  | 5  | create=1 container=2 list=1 listen=1",
      // An address is listed while images are pulled.
      "create=1 schedule=1 prepare=2 init=2 list=3 | true | 9 "
          + "| create=1 schedule=0 prepare=1 init=0 container=7",
      "create=1 container=8 list=3 listen=9 answer=9 | true | 9 "
          + "| create=1 container=7 list=0 listen=1 answer=0",
      // What the status says in whole seconds was before what is known exactly.
      "scale=1 create=6 schedule=6 container=6 list=2 listen=9 answer=9 | true | 9 "
          + "| scale=1 create=1 schedule=0 container=4 list=0 listen=3 answer=0",
      "create=6 container=6 list=2 listen=4 answer=5 | true | 5 "
          + "| create=2 container=2 list=0 listen=0 answer=1",
      // Nothing was known of the containers before a pod answered.
      "create=1 list=3 listen=4 answer=5      | true  | 5  | create=1 pod=2 listen=1 answer=1",
      // A request that came later, or left earlier, has only its part.
      "create=-9 schedule=-8 container=-1 list=2 listen=3 answer=4 | true | 4 "
          + "| create=0 schedule=0 container=0 list=2 listen=1 answer=1",
      "create=1 schedule=2 container=8 list=9 listen=9 answer=9 | true | 4 "
          + "| create=1 schedule=1 container=2 list=0 listen=0 answer=0"})
  void splitsAStartByWhatIsKnown(String known, boolean podsRead, long until, String expected) {
    assertThat(text(split(known == null ? "" : known, podsRead).between(0, until)))
        .isEqualTo(expected);
  }

  /** Clocks of nodes differ, and statuses come late: nothing is negative, and nothing is left out. */
  @Test
  void addsUp() {
    Seeds.each(seed -> new ColdStartBreakdownTest().addsUp(seed));
  }

  private void addsUp(long seed) {
    var random = new Random(seed);
    var ends = new EnumMap<StartPhase, Long>(StartPhase.class);
    for (var phase : StartPhase.values()) {
      if (phase != StartPhase.POD && random.nextBoolean()) {
        ends.put(phase, random.nextLong(-5, 20));
      }
    }
    long from = random.nextLong(-5, 5);
    long until = from + random.nextLong(0, 20);

    var phases = new ColdStartBreakdown(ends, random.nextBoolean()).between(from, until);

    assertThat(phases.values()).allMatch(length -> length >= 0);
    assertThat(phases.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(until - from);
  }

  @ParameterizedTest(name = "{0}, read at {1}, was {2} ms ago")
  @CsvSource({
      // in the middle of its second
      "2026-11-27T12:00:00Z, 2026-11-27T12:00:05Z, 4500",
      // in the middle of the part that is over
      "2026-11-27T12:00:00Z, 2026-11-27T12:00:00.400Z, 200",
      // the node's clock is ahead
      "2026-11-27T12:00:09Z, 2026-11-27T12:00:05Z, 0",
      // exact
      "2026-11-27T12:00:00.250Z, 2026-11-27T12:00:05Z, 4750",
      "0001-01-01T00:00:00Z, 2026-11-27T12:00:05Z, 86399500"})
  void placesATimeInTheMiddleOfItsSecond(Instant reported, Instant now, long millisAgo) {
    long nanos = Long.MAX_VALUE - 5;

    assertThat(nanos - ColdStartBreakdown.nanos(reported, now, nanos))
        .isEqualTo(millisAgo * 1_000_000);
  }
}
