package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UpgradeNegotiationTest {
  private static final String[] TO_HTTP2 = {"Host", "h", "Connection", "Upgrade, HTTP2-Settings",
      "Upgrade", "h2c", "HTTP2-Settings", "AAQAAP__"};

  private static MapFields fields(String... more) {
    return MapFields.of(more);
  }

  private static MapFields toHttp2(String... more) {
    var all = new String[TO_HTTP2.length + more.length];
    System.arraycopy(TO_HTTP2, 0, all, 0, TO_HTTP2.length);
    System.arraycopy(more, 0, all, TO_HTTP2.length, more.length);
    return MapFields.of(all);
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

  @Test
  void toHttp2IsNotForThePod() {
    assertThat(UpgradeNegotiation.wanted(RequestVersion.HTTP_1_1, toHttp2())).isNull();
    assertThat(UpgradeNegotiation.toHttp2(RequestVersion.HTTP_1_1, toHttp2())).isTrue();
  }

  @Test
  void toHttp2NeedsOneSettingAndNoBody() {
    assertThat(UpgradeNegotiation.toHttp2(RequestVersion.HTTP_1_1, toHttp2("Content-Length", "0")))
        .isFalse();
    assertThat(
        UpgradeNegotiation.toHttp2(RequestVersion.HTTP_1_1,
            toHttp2("Transfer-Encoding", "chunked")))
        .isFalse();
    assertThat(
        UpgradeNegotiation.toHttp2(RequestVersion.HTTP_1_1, toHttp2("HTTP2-Settings", "AAQAAP__")))
        .isFalse();
    assertThat(
        UpgradeNegotiation.toHttp2(RequestVersion.HTTP_1_1,
            fields("Host", "h", "Connection", "Upgrade",
                "Upgrade", "h2c", "HTTP2-Settings", "AAQAAP__")))
        .isFalse();
    assertThat(UpgradeNegotiation.toHttp2(RequestVersion.HTTP_1_0, toHttp2())).isFalse();
  }

  @Test
  void isAgreedToInAnyCase() {
    var asked = fields("Connection", "Upgrade", "Upgrade", "websocket");

    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", "WebSocket"))).isTrue();
    assertThat(UpgradeNegotiation.agrees(asked, fields("Upgrade", "smtp"))).isFalse();
    assertThat(UpgradeNegotiation.agrees(asked, fields())).isFalse();
    assertThat(UpgradeNegotiation.agrees(fields(), fields("Upgrade", "websocket"))).isFalse();
  }

  @Test
  void survivesTheRewritingOfHeaders() {
    var asked = fields("Connection", "x, Upgrade", "X", "1", "Upgrade", "websocket");

    HeaderRewriter.request(asked, RequestVersion.HTTP_1_1, "h", "10.1.2.3");

    assertThat(asked.all("Connection")).containsExactly("Upgrade");
    assertThat(asked.all("Upgrade")).containsExactly("websocket");
    assertThat(asked.all("X")).isEmpty();
  }
}
