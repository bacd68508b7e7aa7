package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FramingCheckTest {
  private static RequestFailure check(String... namesAndValues) {
    return FramingCheck.check(RequestVersion.HTTP_1_1, "GET", MapFields.of(namesAndValues));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "a.b:80", "[2001:db8::1]:8012", "a_b~c"})
  void acceptsAHost(String host) {
    assertThat(check("Host", host)).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "a/b", "a?b", "a@b", "a\"b", "ä", "\u0080"})
  void refusesWhatIsNoHost(String host) {
    assertThat(check("Host", host))
        .isEqualTo(RequestFailure.badRequest("malformed Host header"));
  }

  @Test
  void wantsOneHost() {
    assertThat(check()).isEqualTo(RequestFailure.badRequest("missing required Host header"));
    assertThat(check("Host", "a", "Host", "a"))
        .isEqualTo(RequestFailure.badRequest("too many Host headers"));
    assertThat(FramingCheck.check(RequestVersion.HTTP_1_0, "GET", MapFields.of())).isNull();
  }

  @Test
  void refusesALengthWithACoding() {
    assertThat(check("Host", "a", "Content-Length", "1", "Transfer-Encoding", "chunked"))
        .isEqualTo(RequestFailure.badRequest("both Content-Length and Transfer-Encoding"));
  }

  @Test
  void knowsOneCoding() {
    assertThat(check("Host", "a", "Transfer-Encoding", "CHUNKED")).isNull();
    assertThat(check("Host", "a", "Transfer-Encoding", "gzip, chunked"))
        .isEqualTo(RequestFailure.unknownCoding());
    assertThat(check("Host", "a", "Transfer-Encoding", "gzip", "Transfer-Encoding", "chunked"))
        .isEqualTo(RequestFailure.unknownCoding());
  }

  @Test
  void refusesVersionsItDoesNotSpeak() {
    assertThat(FramingCheck.check(RequestVersion.OTHER, "GET", MapFields.of("Host", "a")))
        .isEqualTo(RequestFailure.unknownVersion());
  }

  @Test
  void knowsOneExpectation() {
    assertThat(
        FramingCheck.expectation(RequestVersion.HTTP_1_1, MapFields.of("Expect", "100-Continue")))
        .isNull();
    assertThat(FramingCheck.expectation(RequestVersion.HTTP_1_1, MapFields.of("Expect", "more")))
        .isEqualTo(RequestFailure.unknownExpectation());
    assertThat(FramingCheck.expectation(RequestVersion.HTTP_1_0, MapFields.of("Expect", "more")))
        .isNull();
  }

  @Test
  void refusesATraceWithABody() {
    var refused = RequestFailure.badRequest("TRACE with a body");
    assertThat(trace("Content-Length", "5")).isEqualTo(refused);
    assertThat(trace("Transfer-Encoding", "chunked")).isEqualTo(refused);
    assertThat(trace("Content-Length", "0")).isNull();
    assertThat(trace("X", "y")).isNull();
  }

  private static RequestFailure trace(String name, String value) {
    return FramingCheck.check(RequestVersion.HTTP_1_1, "TRACE",
        MapFields.of("Host", "a", name, value));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Content-Length", "transfer-encoding", "HOST", "Trailer", "te",
      "Knative-Serving-Namespace", "K-Original-Host", "K-Network-Probe"})
  void keepsWhatDecidesAboutARequestInItsHead(String name) {
    assertThat(FramingCheck.mayTrail(name)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Checksum", "grpc-status", "Server-Timing", "Hosts"})
  void letsOtherFieldsTrail(String name) {
    assertThat(FramingCheck.mayTrail(name)).isTrue();
  }

  @Test
  void knowsWhichRequestsHaveABody() {
    assertThat(FramingCheck.hasBody(MapFields.of())).isFalse();
    assertThat(FramingCheck.hasBody(MapFields.of("Content-Length", "0"))).isFalse();
    assertThat(FramingCheck.hasBody(MapFields.of("Content-Length", "1"))).isTrue();
    assertThat(FramingCheck.hasBody(MapFields.of("Transfer-Encoding", "chunked"))).isTrue();
  }
}
