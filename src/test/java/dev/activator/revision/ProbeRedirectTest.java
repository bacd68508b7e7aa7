package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ProbeRedirect.Failed;
import dev.activator.revision.ProbeRedirect.Follow;
import dev.activator.revision.ProbeRedirect.None;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeRedirectTest {
  private static final String REQUESTED = "http://10.1.1.1:8080/a/up?x=1";

  private static String name(ProbeRedirect redirect) {
    return switch (redirect) {
      case None() -> "decides";
      case Failed _ -> "failed";
      case Follow(boolean tls, int port, var path, boolean keepsHost) -> (tls ? "https" : "http")
          + " " + port + " " + path + (keepsHost ? "" : " absolute");
    };
  }

  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource({"200, /b, decides", "404, /b, decides", "300, /b, decides", "304, /b, decides",
      "305, /b, decides", "306, /b, decides",
      "399, /b, decides", "301, '', decides", "308, '', decides",
      "301, /b, http 8080 /b", "302, /b, http 8080 /b", "303, /b, http 8080 /b",
      "307, /b, http 8080 /b", "308, /b, http 8080 /b",
      "302, b, http 8080 /a/b", "302, ../b?y, http 8080 /b?y", "302, ?y=2, http 8080 /a/up?y=2",
      "302, '/b c|d', http 8080 /b%20c%7Cd", "302, /b#top, http 8080 /b",
      "302, //10.1.1.1/b, http 80 /b",
      "302, http://10.1.1.1:8080/b, http 8080 /b absolute",
      "302, http://10.1.1.1, http 80 / absolute",
      "302, HTTP://10.1.1.1:9090/b, http 9090 /b absolute",
      "302, https://10.1.1.1/b, https 443 /b absolute",
      "302, https://10.1.1.1:8443/b, https 8443 /b absolute",
      "302, http://10.1.1.2:8080/b, decides", "302, https://shop.example/login, decides",
      "302, http://my_app/login, decides", "302, //shop.example/login, decides",
      "302, ftp://shop.example/, decides", "302, mailto:me@shop.example, decides",
      "302, ftp://10.1.1.1/b, failed", "302, http://10.1.1.1:70000/b, failed",
      "302, /%zz, failed", "302, http://[10/, failed"})
  void isFollowedOnTheSameHostOnly(int status, String location, String means) {
    assertThat(name(ProbeRedirect.of(REQUESTED, status, location, 1))).isEqualTo(means);
  }

  @ParameterizedTest(name = "after {0} requests, {1}: {2}")
  @CsvSource({"9, /b, http 8080 /b", "10, /b, failed", "10, http://shop.example, decides"})
  void isFollowedNineTimes(int requests, String location, String means) {
    assertThat(name(ProbeRedirect.of(REQUESTED, 302, location, requests))).isEqualTo(means);
  }

  @Test
  void comparesAddressesOfSixteenBytes() {
    assertThat(name(ProbeRedirect.of("http://[fd00::1]:8080/", 302, "http://[fd00::1]:9090/b", 1)))
        .isEqualTo("http 9090 /b absolute");
    assertThat(name(ProbeRedirect.of("http://[fd00::1]:8080/", 302, "http://[fd00::2]/b", 1)))
        .isEqualTo("decides");
  }

  @Test
  void followsFromAPathThatNoUrlMayHave() {
    assertThat(name(ProbeRedirect.of("http://10.1.1.1:8080/{up}", 302, "/b", 1)))
        .isEqualTo("http 8080 /b");
  }
}
