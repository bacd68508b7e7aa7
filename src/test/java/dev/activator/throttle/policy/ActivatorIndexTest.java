package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.policy.DestinationSubset.ActivatorIndex;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ActivatorIndexTest {
  private static final String OWN = "10.10.10.3";

  static Stream<Arguments> addresses() {
    return Stream.of(Arguments.of("nothing", List.of(), ActivatorIndex.UNKNOWN),
        Arguments.of("others", List.of("10.10.10.1", "10.10.10.2"), ActivatorIndex.UNKNOWN),
        Arguments.of("first", List.of("10.10.10.3", "11.11.11.11"), new ActivatorIndex(0, 2)),
        Arguments.of("third of four",
            List.of("10.10.10.1", "10.10.10.2", "10.10.10.3", "11.11.11.11"),
            new ActivatorIndex(2, 4)),
        Arguments.of("last of three", List.of("10.10.10.1", "10.10.10.2", "10.10.10.3"),
            new ActivatorIndex(2, 3)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("addresses")
  void isThePositionOfTheOwnAddress(String name, List<String> addresses, ActivatorIndex expected) {
    assertThat(ActivatorIndex.UNKNOWN.after(addresses, OWN)).isEqualTo(expected);
  }

  @Test
  @DisplayName("stays while the own address is not among them")
  void staysWhileTheOwnAddressIsNotAmongThem() {
    var known = new ActivatorIndex(1, 2);

    assertThat(known.after(List.of("10.10.10.1"), OWN)).isEqualTo(known);
    assertThat(known.after(List.of(), OWN)).isEqualTo(known);
  }

  @Test
  void followsTheOrderOfTextNotOfNumbers() {
    // "10.0.0.10" sorts before "10.0.0.2"
    assertThat(ActivatorIndex.UNKNOWN.after(List.of("10.0.0.10", "10.0.0.2"), "10.0.0.2"))
        .isEqualTo(new ActivatorIndex(1, 2));
  }
}
