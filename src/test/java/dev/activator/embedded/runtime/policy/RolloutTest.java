package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.Rollout.Member;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Members are written {@code replicas/ready}: the current one, or "-", and earlier ones, oldest first. */
class RolloutTest {
  @ParameterizedTest(name = "{0} of {1} and {2}: {3}")
  @CsvSource(delimiter = '|', value = {
      "2 | 0/0 |             | c=2",
      "0 | 2/2 |             | c=0",
      // an earlier one stays until the current one is ready, ready or not
      "2 | 0/0 | 2/2         | a=2 c=2",
      "2 | 2/1 | 2/2         | a=1 c=2",
      "2 | 2/2 | 2/2         | a=0 c=2",
      "1 | 1/0 | 1/0         | a=1 c=1",
      // newer ones are kept longer, and healthy ones longer than others
      "3 | 3/1 | 2/2 2/2     | a=0 b=2 c=3",
      "3 | 3/1 | 2/2 2/0     | a=2 b=0 c=3",
      "3 | 3/0 | 2/1 2/1     | a=1 b=2 c=3",
      // scaled meanwhile
      "1 | 3/0 | 3/3         | a=1 c=1",
      "0 | 1/1 | 3/3         | a=0 c=0"})
  void movesReplicasToTheCurrentOne(int wanted, String current, String earlier, String replicas) {
    assertThat(text(rollout(current, earlier).replicas(wanted))).isEqualTo(replicas);
  }

  @ParameterizedTest(name = "{0} of {1} and {2}: {3}")
  @CsvSource(delimiter = '|', value = {
      "3 | -   | 2/2         | a=3",
      "3 | -   | 0/0 2/2     | a=0 b=3",
      "1 | -   | 0/0 0/0     | a=0 b=1",
      "3 | 1/1 | 1/1         | a=1 c=2",
      "1 | 2/2 | 2/2         | a=2 c=0",
      "2 | -   |             | ''"})
  void scalesTheNewestOfAPausedDeployment(int wanted, String current, String earlier,
      String replicas) {
    assertThat(text(rollout(current, earlier).pausedReplicas(wanted))).isEqualTo(replicas);
  }

  private static Rollout rollout(String current, String earlier) {
    var members = Stream.ofNullable(earlier).flatMap(all -> Arrays.stream(all.split(" "))).toList();
    return new Rollout(current.equals("-") ? null : member("c", 9, current),
        List.copyOf(java.util.stream.IntStream.range(0, members.size())
            .mapToObj(i -> member(String.valueOf((char) ('a' + i)), i + 1, members.get(i)))
            .toList()));
  }

  private static Member member(String name, long revision, String numbers) {
    var parts = numbers.split("/");
    return new Member(name, revision, Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
  }

  private static String text(java.util.Map<String, Integer> replicas) {
    var text = new StringBuilder();
    new TreeMap<>(replicas).forEach((name, count) -> text.append(name).append('=').append(count)
        .append(' '));
    return text.toString().strip();
  }
}
