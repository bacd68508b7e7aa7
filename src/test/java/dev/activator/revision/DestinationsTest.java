package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DestinationsTest {
  private static final Destination A = new Destination("10.0.0.10", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final Destination SIX = new Destination("2001:db8::1", 8012);

  @Test
  void areInTheOrderOfTheirTextEachOnce() {
    assertThat(Destinations.of(B, A, B).all()).containsExactly(A, B);
  }

  @Test
  void areEqualWhateverTheOrderTheyWereNamedIn() {
    assertThat(Destinations.of(A, B)).isEqualTo(Destinations.of(B, A));
  }

  @Test
  void putAnIpv6AddressInBrackets() {
    assertThat(SIX).hasToString("[2001:db8::1]:8012");
  }

  @Test
  void addTakeAwayAndIntersect() {
    var both = Destinations.of(A).plus(B);

    assertThat(both).isEqualTo(Destinations.of(A, B));
    assertThat(both.minus(A)).isEqualTo(Destinations.of(B));
    assertThat(both.minus(Destinations.of(A, SIX))).isEqualTo(Destinations.of(B));
    assertThat(both.intersect(Destinations.of(B, SIX))).isEqualTo(Destinations.of(B));
    assertThat(both.contains(SIX)).isFalse();
  }

  @Test
  void refuseAPortThatIsNone() {
    assertThatThrownBy(() -> new Destination("10.0.0.1", 0)).hasMessage("not a port: 0");
  }
}
