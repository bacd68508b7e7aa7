package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CidrRangesTest {
  @ParameterizedTest(name = "{0} contains {1}: {2}")
  @CsvSource({"10.0.0.0/8, 10.255.1.2, true", "10.0.0.0/8, 11.0.0.1, false",
      "10.1.2.128/25, 10.1.2.127, false", "10.1.2.128/25, 10.1.2.128, true",
      "10.1.2.3, 10.1.2.3, true", "10.1.2.3, 10.1.2.4, false", "0.0.0.0/0, 192.0.2.1, true",
      "0.0.0.0/0, fd00::1, false", "fd00::/8, fd12:3::4, true", "fd00::/8, 10.0.0.1, false",
      "fd00::1/127, fd00:0:0:0:0:0:0:0, true"})
  void containsTheAddressesWithTheSameFirstBits(String network, String address,
      boolean contained) {
    assertThat(
        CidrRanges.of(List.of("192.0.2.77", network)).contains(InetAddress.ofLiteral(address)))
        .isEqualTo(contained);
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/x", "gateway",
      "", "fd00::/129"})
  void whatIsNoNetworkIsNamed(String text) {
    assertThatThrownBy(() -> CidrRanges.of(List.of("10.0.0.1", text)))
        .isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith("'" + text + "' ");
  }

  @Test
  void noneContainsNothing() {
    assertThat(new CidrRanges(List.of()).contains(InetAddress.ofLiteral("10.0.0.1"))).isFalse();
  }
}
