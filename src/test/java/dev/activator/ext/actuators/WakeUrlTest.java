package dev.activator.ext.actuators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WakeUrlTest {
  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource({"https://a.b/v1, https://a.b/v1, true", "https://a.b/v1, https://a.b/v1/x?y=z, true",
      "https://a.b/v1/, https://a.b/v1, true", "https://a.b/v1, https://A.B:443/v1/, true",
      "https://a.b, https://a.b/any, true", "https://a.b/v1, https://a.b/v10, false",
      "https://a.b/v1, https://a.b/, false", "https://a.b/v1, http://a.b/v1, false",
      "https://a.b/v1, https://a.b:8443/v1, false", "https://a.b/v1, https://a.b.c/v1, false",
      "https://a.b/v1, https://x.a.b/v1, false", "https://a.b/v1, https://a.b./v1, false",
      "https://a.b/v1, https://a.b/V1, false", "https://a.b/v1/x, https://a.b/v1//x, false",
      "http://[::1]/a, http://[0:0:0:0:0:0:0:1]/a/b, true"})
  void comparesPartByPart(String prefix, String url, boolean begins) {
    assertThat(WakeUrl.begins(WakeUrl.parsePrefix("prefix", prefix), WakeUrl.parse("url", url)))
        .isEqualTo(begins);
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://a.b/v1/../admin", "https://a.b/v1/..", "https://a.b/./v1",
      "https://a.b/v1/%2e%2E/admin", "https://a.b/v1/..;/admin", "https://a.b/v1/..%2fadmin",
      "https://a.b/v1/x%5c..", "https://a.b/v1/%252e%252e/admin", "https://a.b/v1/x%00",
      "https://a.b/v1/%%32e%%32e/admin", "https://a.b/v1/%"})
  void refusesWhatAServerMayReadAsAnotherPath(String url) {
    assertThatThrownBy(() -> WakeUrl.parse("url", url)).hasMessageStartingWith("url may have no .");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ftp://a.b/", "HTTP://a.b", "https:/a.b/", "https://user@a.b/",
      "https://a.b/@c#d", "https://a.b\\@c/", "https://a.b/v1\\..\\admin", "https://a.b/ x",
      "https://ä.b/", "https://a.b/\t"})
  void refusesOtherForms(String url) {
    assertThatThrownBy(() -> WakeUrl.parse("url", url))
        .hasMessageStartingWith("url must be an http or https URL");
  }

  @Test
  void refusesHostsAndPortsThatAreNone() {
    assertThatThrownBy(() -> WakeUrl.parse("url", "https://a.b:99999/"))
        .hasMessage("url has no valid host or port");
    assertThatThrownBy(() -> WakeUrl.parsePrefix("prefix", "https://a.b/?c"))
        .hasMessage("prefix must have no query");
  }
}
