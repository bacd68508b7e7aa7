package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.HeaderFieldList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UpgradeNegotiationTest {
  private static HeaderFieldList fields(String... more) {
    return MapFields.of(more);
  }

  @Test
  void isRequestedByBothHeadersInHttp11() {
    var asked = fields("Connection", "keep-alive, UPGRADE", "Upgrade", "WebSocket");

    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_1_1, asked)).isEqualTo("WebSocket");
    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_1_0, asked)).isNull();
    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_2, asked)).isNull();
    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_1_1, fields("Upgrade", "websocket")))
        .isNull();
    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_1_1, fields("Connection", "Upgrade")))
        .isNull();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      h2c                     |
      H2C                     |
      ,                       |
      websocket, h2c          | websocket
      h2c ,websocket          | websocket
      irc/6.9 , h2c,websocket | irc/6.9, websocket
      TLS/1.2                 |
      tls/1.0, websocket      | websocket
      """)
  void neverOffersH2cOrTls(String upgrade, @Nullable String offered) {
    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_1_1,
        fields("Connection", "Upgrade, HTTP2-Settings", "Upgrade", upgrade))).isEqualTo(offered);
  }

  @Test
  void readsAllFieldsOfTheName() {
    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_1_1,
        fields("Connection", "Upgrade", "Upgrade", "h2c", "Upgrade", "websocket")))
        .isEqualTo("websocket");
  }

  @Test
  void isAgreedToInAnyCase() {
    var asked = fields("Connection", "Upgrade", "Upgrade", "websocket");

    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", "WebSocket"))).isTrue();
    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", "smtp"))).isFalse();
    assertThat(UpgradeNegotiation.agrees(asked, fields())).isFalse();
    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", ""))).isFalse();
    assertThat(UpgradeNegotiation.agrees(fields(), fields("Upgrade", "websocket"))).isFalse();
  }

  @Test
  void isAgreedToByOneOfTheProtocolsOffered() {
    var asked = fields("Connection", "Upgrade", "Upgrade", "irc/6.9, websocket");

    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", "websocket"))).isTrue();
    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", "irc/6.9"))).isTrue();
    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", "irc"))).isFalse();
  }

  @Test
  void removesTheSettingsOfHttp2EvenIfConnectionDoesNotNameThem() {
    var asked = fields("Connection", "Upgrade", "Upgrade", "h2c", "HTTP2-Settings", "AAQAAP__");

    HeaderRewriter.request(asked, RequestVersion.HTTP_1_1, "h", "10.1.2.3");

    assertThat(asked.getAll("Connection")).isEmpty();
    assertThat(asked.getAll("Upgrade")).isEmpty();
    assertThat(asked.getAll("HTTP2-Settings")).isEmpty();
  }

  @Test
  void survivesTheRewritingOfHeaders() {
    var asked = fields("Connection", "x, Upgrade", "X", "1", "Upgrade", "websocket");

    HeaderRewriter.request(asked, RequestVersion.HTTP_1_1, "h", "10.1.2.3");

    assertThat(asked.getAll("Connection")).containsExactly("Upgrade");
    assertThat(asked.getAll("Upgrade")).containsExactly("websocket");
    assertThat(asked.getAll("X")).isEmpty();
  }
}
