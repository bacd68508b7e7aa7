package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetTest {
  @ParameterizedTest
  @CsvSource({"GET, /, , /", "GET, /a%2Fb?c=//d, , /a%2Fb?c=//d", "GET, //a, , //a",
      "OPTIONS, *, , *", "GET, http://h.example:80/a?b, h.example:80, /a?b",
      "GET, HTTP://h, h, /", "GET, https://h?q, h, /?q", "OPTIONS, http://h:80, h:80, *",
      "OPTIONS, http://h/, h, /", "OPTIONS, http://h?q, h, /?q"})
  void isRead(String method, String text, String host, String path) {
    assertThat(FramingCheck.target(method, text)).isEqualTo(new FramingCheck.Target(host, path));
  }

  @ParameterizedTest
  @CsvSource({"GET, *", "CONNECT, h:80", "CONNECT, /", "GET, h", "GET, ftp://h/", "GET, http:///a",
      "GET, http://u@h/", "GET, /a b", "GET, /a\u0000b", "GET, /a\u007fb"})
  void isRefused(String method, String text) {
    assertThat(FramingCheck.target(method, text)).isNull();
  }
}
