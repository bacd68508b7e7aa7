package dev.activator.discovery.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RevisionEndpointSliceTest {
  /** Members such as {@code p1/READY}; the address is that of the number. */
  private static RevisionEndpointSlice set(String members) {
    return new RevisionEndpointSlice(new Owner(new RevisionId("ns", "rev"), Role.PODS), "u",
        List.of(
            new Subset(new Ports(8012, null),
                Stream.of(members.split(" ")).filter(one -> !one.isEmpty())
                    .map(RevisionEndpointSliceTest::member).toList())));
  }

  private static Member member(String text) {
    var parts = text.split("/");
    return new Member(parts[0], "10.0.0." + parts[0].charAt(1), Condition.valueOf(parts[1]));
  }

  @ParameterizedTest(name = "{0} then {1}: since {2}")
  @CsvSource(delimiter = '|', textBlock = """
      p1/READY             | p1/READY             | 1
      p1/READY             | p1/NOT_READY         | 2
      p1/NOT_READY         | p1/READY             | 2
      p1/NOT_READY         | p1/NOT_READY         | 1
      p1/READY             | p1/TERMINATING           | 1
      p1/TERMINATING           | p1/GONE              | 2
      p1/READY p2/READY    | p2/READY p1/READY    | 1 1
      p1/READY             | p1/READY p2/READY    | 1 2
      p1/READY             | q1/READY             | 2
      ''                   | p1/READY             | 2
      """)
  void saysInWhichVersionAnAddressCameToBeAsItIs(String before, String now, String since) {
    var versions = set(now).after(set(before).after(null, "1"), "2");

    assertThat(versions.subsets().getFirst().members().stream().map(Member::since)
        .collect(Collectors.joining(" "))).isEqualTo(since);
  }

  @ParameterizedTest(name = "ready, [{0}], ready")
  @CsvSource(value = {"p1/NOT_READY", "''"})
  void remembersThatAnAddressWasNotReadyInBetween(String between) {
    var first = set("p1/READY").after(null, "1");

    assertThat(set("p1/READY").after(set(between).after(first, "2"), "3")).isNotEqualTo(first);
    assertThat(set("p1/READY").after(first, "2")).isEqualTo(first);
  }
}
