package dev.activator.ext.asleep.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PodsByReadiness.Identity;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SleepingPodsTest {
  private static final IdleTarget TARGET = new IdleTarget(
      new ScaleTargetRef("apps/v1", "Deployment", "web"), "sleep", Duration.ZERO, Duration.ZERO,
      SleepCalls.DEFAULT, ShrinkSpec.NONE);
  private static final IdleState STATE = new IdleState(Phase.ASLEEP, Instant.EPOCH, "sleep");

  /** Pods such as {@code 1 2u 3e 1@5}: unready, ending, ready since another version. */
  private static PodsByReadiness pods(String text) {
    var ready = DestinationSet.NONE;
    var notReady = DestinationSet.NONE;
    var ending = DestinationSet.NONE;
    var identities = new HashMap<Destination, Identity>();
    for (var word : text.isEmpty() ? new String[0] : text.split(" ")) {
      var parts = word.split("@");
      var pod = pod(parts[0].substring(0, 1));
      identities.put(pod, new Identity("uid", parts.length > 1 ? parts[1] : "1"));
      if (parts[0].endsWith("u")) {
        notReady = notReady.plus(pod);
      } else {
        ready = ready.plus(pod);
        ending = parts[0].endsWith("e") ? ending.plus(pod) : ending;
      }
    }
    return new PodsByReadiness(ready, notReady, ending, identities);
  }

  private static Destination pod(String number) {
    return new Destination("10.0.0." + number, 80);
  }

  private static DestinationSet set(String numbers) {
    return DestinationSet.of(numbers.isEmpty()
        ? new Destination[0]
        : Arrays.stream(numbers.split(" ")).map(SleepingPodsTest::pod)
            .toArray(Destination[]::new));
  }

  @ParameterizedTest(name = "{0} then {1}")
  @CsvSource(delimiter = '|', value = {
      // slept; now; started; may be asleep
      "1 2 | 1 2 | '' | 1 2",
      "1 2 | 1 2 3 | 3 | 1 2 3",
      // A pod at the address of another, and a container that has started again.
      "1 | 1@7 | 1 | 1",
      // It need not listen yet.
      "1 | 1 2u | '' | 1",
      "1 2u | 1 2u | '' | 1 2",
      "1 | 2e | '' | 2",
      "1 | '' | '' | ''"})
  void startedPodsAreAwake_andUnreadyOnesThatWereNotThereNeedNotListen(String slept, String now,
      String started, String asleep) {
    var known = SleepingPods.of(null, pods(slept), pods(slept).all(), TARGET, STATE);

    assertThat(known.started(pods(now))).isEqualTo(set(started));
    assertThat(known.asleep(pods(now))).isEqualTo(set(asleep));
  }

  @ParameterizedTest(name = "{0} then {1}, {2} put to sleep again")
  @CsvSource(delimiter = '|', value = {
      // slept; now; put to sleep now; then may be asleep
      "1 | 1 2 3u | 1 2 | 1 2",
      "1 | 1 2u | 1 2 | 1 2",
      "1 3u | 1 2 3u | 1 2 | 1 2 3"})
  void aPodThatStartsBesideOneThatSleepsAgainIsNotTakenForAsleep(String slept, String now,
      String which, String asleep) {
    var before = SleepingPods.of(null, pods(slept), pods(slept).all(), TARGET, STATE);

    var again = SleepingPods.of(before, pods(now), set(which), TARGET, STATE);

    assertThat(again.asleep(pods(now))).isEqualTo(set(asleep));
  }
}
