package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutboundProxiesTest {
  @Test
  @DisplayName("HTTP_PROXY and HTTPS_PROXY are for URLs of their scheme")
  void eachIsForItsScheme() {
    var proxies = OutboundProxies.of("plain:3128", "http://secure:3128", "");

    assertThat(proxies.of(URI.create("http://a.example/"))).hasToString("http://plain:3128");
    assertThat(proxies.of(URI.create("https://a.example/"))).hasToString("http://secure:3128");
    assertThat(OutboundProxies.of("", "", "").of(URI.create("http://a.example/"))).isNull();
    assertThat(OutboundProxies.of("http://p", "", "").of(URI.create("https://a.example/")))
        .isNull();
  }

  @ParameterizedTest(name = "NO_PROXY={0} lets {1} through: {2}")
  @CsvSource(delimiter = '|', value = {"* | http://a.example | true",
      "a.example | http://a.example | true", "a.example | http://b.a.example | true",
      "a.example | http://ba.example | false", ".a.example | http://a.example | false",
      ".a.example | http://b.a.example | true", "*.a.example | http://b.a.example | true",
      "A.Example | http://a.EXAMPLE | true", " b , a.example | http://a.example | true",
      "a.example:8080 | http://a.example:8080 | true", "a.example:8080 | http://a.example | false",
      "a.example:80 | http://a.example | true", "a.example:443 | https://a.example | true",
      "10.0.0.1 | http://10.0.0.1:6443 | true", "10.0.0.1 | http://10.0.0.10 | false",
      "10.0.0.1:6443 | https://10.0.0.1:6443 | true", "10.0.0.0/8 | http://10.9.9.9 | true",
      "10.0.0.0/8 | http://11.0.0.1 | false", "10.96.0.0/12 | http://10.111.255.255 | true",
      "10.96.0.0/12 | http://10.112.0.1 | false", "fd00::/8 | http://[fd12::1] | true",
      "fd00::/8 | http://10.0.0.1 | false", "10.0.0.0/99 | http://10.0.0.1 | false",
      "10.0.0.0/8 | http://ten.example | false", "'' | http://a.example | false"})
  void callsSomeDirectly(String none, String url, boolean direct) {
    var proxies = OutboundProxies.of("http://p:1", "http://p:1", none);

    assertThat(proxies.of(URI.create(url)) == null).isEqualTo(direct);
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://localhost:1", "http://LOCALHOST", "https://127.0.0.1:6443",
      "http://127.9.9.9", "http://[::1]:8001"})
  void callsThisMachineDirectly_whateverIsConfigured(String url) {
    assertThat(OutboundProxies.of("http://p:1", "http://p:1", "").of(URI.create(url))).isNull();
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"http://[fd00::1]:3128, http://[fd00::1]:3128", "HTTP://p:1, http://p:1",
      "Socks5://p:1, socks5://p:1", "http://p:3128/some/path?a#b, http://p:3128",
      "p:3128/, http://p:3128", "[fd00::1], http://[fd00::1]", "me:it@p:1, http://me:it@p:1",
      "http://me:s3cr%25et@p:1, http://me:s3cr%25et@p:1"})
  void takesWhatGoTakes(String written, String url) {
    assertThat(OutboundProxies.of(written, "", "").http()).hasToString(url);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"http://me:s3cr%et@proxy:3128", "me:s3cr%et@proxy:3128",
      "http://me:s3/cret@proxy:port", "http://me:s3@cret@proxy:70000", "http://me:s3 et@my_proxy"})
  void namesTheVariableAndNotThePassword(String url) {
    assertThatThrownBy(() -> OutboundProxies.of("", url, ""))
        .isExactlyInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("HTTPS_PROXY is '(http://)?(proxy:\\w+|my_proxy)', but must be a URL"
            + " such as http://proxy:3128")
        .hasNoCause();
  }

  @Test
  void refusesWhatIsNoUrlAndKeepsItsSecret() {
    assertThatThrownBy(() -> OutboundProxies.of("", "ftp://me:secret@proxy", ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("HTTPS_PROXY is 'ftp://proxy', but must be a URL such as http://proxy:3128");
    assertThatThrownBy(() -> OutboundProxies.of("a b", "", ""))
        .hasMessageStartingWith("HTTP_PROXY is");
  }
}
