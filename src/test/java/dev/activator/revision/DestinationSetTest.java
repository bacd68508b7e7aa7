package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;

class DestinationSetTest {
  private static final Destination A = new Destination("10.0.0.10", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final Destination SIX = new Destination("2001:db8::1", 8012);

  @Test
  void areInTheOrderOfTheirTextEachOnce() {
    assertThat(DestinationSet.of(B, A, B).all()).containsExactly(A, B);
  }

  @Test
  void areEqualWhateverTheOrderTheyWereNamedIn() {
    assertThat(DestinationSet.of(A, B)).isEqualTo(DestinationSet.of(B, A));
  }

  @Test
  void areNotCopiedWhereNothingChanges() {
    var pods = DestinationSet.of(A, B);

    assertThat(pods.plus(DestinationSet.NONE)).isSameAs(pods);
    assertThat(DestinationSet.NONE.plus(pods)).isSameAs(pods);
    assertThat(pods.minus(DestinationSet.of(SIX))).isSameAs(pods);
    assertThat(pods.intersect(pods)).isSameAs(pods);
    assertThat(pods.intersect(DestinationSet.NONE)).isSameAs(DestinationSet.NONE);
  }

  @Test
  void putAnIpv6AddressInBrackets() {
    assertThat(SIX).hasToString("[2001:db8::1]:8012");
  }

  @Test
  void areInTheOrderOfTheirTextWhateverTheHostAndThePort() {
    var random = new Random(1);
    for (int i = 0; i < 200_000; i++) {
      var one = any(random);
      var other = any(random);

      assertThat(Integer.signum(one.compareTo(other))).as("%s and %s", one, other)
          .isEqualTo(Integer.signum(one.toString().compareTo(other.toString())));
    }
  }

  /** Of few characters, so that many are equal at first. */
  private static Destination any(Random random) {
    var host = new StringBuilder("1");
    for (int length = random.nextInt(5); length > 0; length--) {
      host.append("01.:-a[]".charAt(random.nextInt(random.nextBoolean() ? 3 : 8)));
    }
    int port = 1 + random.nextInt(random.nextBoolean() ? 120 : 65_535);
    return new Destination(host.substring(random.nextInt(host.length())), port);
  }

  @Test
  void containThoseOfWhichEachIsThere() {
    var both = DestinationSet.of(A, B);

    assertThat(both.containsAll(DestinationSet.NONE)).isTrue();
    assertThat(both.containsAll(DestinationSet.of(B))).isTrue();
    assertThat(both.containsAll(both)).isTrue();
    assertThat(both.containsAll(DestinationSet.of(B, SIX))).isFalse();
    assertThat(DestinationSet.of(B).containsAll(both)).isFalse();
  }

  @Test
  void addTakeAwayAndIntersect() {
    var both = DestinationSet.of(A).plus(B);

    assertThat(both).isEqualTo(DestinationSet.of(A, B));
    assertThat(both.minus(A)).isEqualTo(DestinationSet.of(B));
    assertThat(both.minus(DestinationSet.of(A, SIX))).isEqualTo(DestinationSet.of(B));
    assertThat(both.intersect(DestinationSet.of(B, SIX))).isEqualTo(DestinationSet.of(B));
    assertThat(both.contains(SIX)).isFalse();
  }

  @Test
  void refuseAPortThatIsNone() {
    assertThatThrownBy(() -> new Destination("10.0.0.1", 0)).hasMessage("not a port: 0");
  }
}
