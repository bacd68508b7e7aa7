package dev.activator.kube.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StoreDriftTest {
  static Stream<Arguments> table() {
    var same = Map.of("a", "1");
    var none = Map.<String, String>of();
    return Stream.of(
        Arguments.of("all as it is", same, same, Set.of(), Set.of()),
        Arguments.of("an update was lost", same, Map.of("a", "2"), Set.of(), Set.of("a")),
        Arguments.of("an update is under way", same, Map.of("a", "2"), Set.of("a"), Set.of()),
        Arguments.of("we are newer than the list", Map.of("a", "3"), Map.of("a", "2"), Set.of("a"),
            Set.of()),
        Arguments.of("an add was lost", none, same, Set.of(), Set.of("a")),
        Arguments.of("added, and deleted since", none, same, Set.of("a"), Set.of()),
        Arguments.of("a delete was lost", same, none, Set.of(), Set.of("a")),
        Arguments.of("deleted, and added again since", same, none, Set.of("a"), Set.of()),
        Arguments.of("one of three, in order", Map.of("c", "1", "b", "1", "a", "1"),
            Map.of("c", "2", "b", "1", "a", "2"), Set.of(), Set.of("a", "c")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("table")
  void isWhatDiffersAndWasNotReported(String name, Map<String, String> stored,
      Map<String, String> listed, Set<String> heardOf, Set<String> adrift) {
    assertThat(StoreDrift.between(stored, listed, heardOf)).containsExactlyElementsOf(
        adrift.stream().sorted().toList());
  }

  @Test
  void namesTenKeysAtMost() {
    var keys = IntStream.range(10, 25).mapToObj(i -> "ns/" + i).toList();

    assertThat(StoreDrift.named(keys.subList(0, 2))).isEqualTo("ns/10, ns/11");
    assertThat(StoreDrift.named(keys.subList(0, 10))).endsWith("ns/19");
    assertThat(StoreDrift.named(keys)).isEqualTo("ns/10, ns/11, ns/12, ns/13, ns/14, ns/15, ns/16, "
        + "ns/17, ns/18, ns/19 and 5 more");
  }
}
