package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AllowedHostsTest {
  private static final AllowedHosts NAMES = new AllowedHosts("192.168.1.5", 8001);

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"localhost, true", "localhost:8001, true", "LocalHost:8001, true",
      "localhost.:8001, true", "127.0.0.1:8001, true", "127.0.0.1, true", "127.8.9.10, true",
      "[::1]:8001, true", "[::1], true", "[0:0:0:0:0:0:0:1]:8001, true",
      "192.168.1.5:8001, true", "192.168.1.5, true",
      // another port, another machine
      "localhost:8002, false", "localhost:80, false", "127.0.0.1:99999, false",
      "192.168.1.6:8001, false", "10.0.0.1:8001, false", "0.0.0.0:8001, false",
      "[::]:8001, false", "[::2], false", "[::ffff:127.0.0.1], false",
      // another name, or another form of an address
      "evil.example, false", "evil.example:8001, false", "localhost.evil.example, false",
      "127.0.0.1.evil.example, false", "hello.default.localhost:8001, false",
      "127.0.0.256, false", "127.1, false", "0, false", "2130706433, false",
      "0x7f000001, false",
      // malformed
      "'', false", "localhost:, false", "localhost:x, false", "::1, false", "user@localhost, false",
      "localhost/, false", "'localhost, localhost', false", "localhost:8001:8001, false"})
  void knowsTheNamesOfTheServer(String host, boolean own) {
    assertThat(NAMES.refusal(List.of(host), List.of()) == null).isEqualTo(own);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"http://localhost:8001, true", "https://localhost:8001, true",
      "HTTP://LOCALHOST:8001, true", "http://127.0.0.1:8001, true", "http://[::1]:8001, true",
      "http://192.168.1.5:8001, true",
      // pages of other servers on this machine
      "http://localhost:3000, false", "http://localhost, false", "https://localhost, false",
      "http://hello.default.localhost:8001, false",
      // from elsewhere, or from nowhere
      "http://evil.example, false", "http://evil.example:8001, false",
      "http://localhost.evil.example:8001, false", "null, false", "'', false", "file://, false",
      "chrome-extension://localhost:8001, false", "http://localhost:8001/, false",
      "http://localhost:8001@evil.example, false", "localhost:8001, false"})
  void knowsPagesOfTheServer(String origin, boolean own) {
    assertThat(NAMES.refusal(List.of("localhost"), List.of(origin)) == null).isEqualTo(own);
  }

  @Test
  void refusesNoHostAndTwo() {
    assertThat(NAMES.refusal(List.of(), List.of())).isNotNull();
    assertThat(NAMES.refusal(List.of("localhost", "localhost"), List.of())).isNotNull();
    assertThat(NAMES.refusal(List.of("localhost"),
        List.of("http://localhost:8001", "http://evil.example"))).isNotNull();
  }

  @ParameterizedTest(name = "port {0}")
  @ValueSource(ints = {80, 443})
  void knowsItsPagesWhereTheirPortIsTheUsualOne(int port) {
    var usual = new AllowedHosts("", port);

    assertThat(usual.refusal(List.of("localhost"), List.of("http://localhost")) == null)
        .isEqualTo(port == 80);
    assertThat(usual.refusal(List.of("localhost"), List.of("https://localhost")) == null)
        .isEqualTo(port == 443);
  }

  @Test
  void hasABindAddressThatIsANameOrOfVersionSix() {
    assertThat(new AllowedHosts("activator", 9090).refusal(List.of("activator:9090"), List.of()))
        .isNull();
    assertThat(new AllowedHosts("fd00::7", 9090).refusal(List.of("[fd00::7]:9090"), List.of()))
        .isNull();
  }

  @Test
  void saysWhatIsWrongAndWhatIsRight() {
    assertThat(NAMES.refusal(List.of("evil.example"), List.of())).isEqualTo("this port answers only"
        + " callers that address it as localhost:8001, and pages from there; the Host header says"
        + " \"evil.example\"");
    assertThat(NAMES.refusal(List.of("localhost"), List.of("null"))).isEqualTo("this port answers"
        + " only callers that address it as localhost:8001, and pages from there; the Origin header"
        + " says \"null\"");
  }
}
