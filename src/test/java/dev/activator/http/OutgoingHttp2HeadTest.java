package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class OutgoingHttp2HeadTest {
  @Test
  void hasThePseudoHeadersFirst() {
    var head = new OutgoingHttp2Head().request(AsciiString.of("GET"), "http", "/a", "example.com",
        fields());

    assertThat(text(head)).containsExactly(":method: GET", ":scheme: http", ":path: /a",
        ":authority: example.com", "accept: x", "own: 1", "accept: y");
    assertThat(head.size()).isEqualTo(7);
  }

  @Test
  void leavesOutAMissingAuthority() {
    var head = new OutgoingHttp2Head().request("GET", "http", "/", null,
        new HeaderFieldList(false));

    assertThat(text(head)).containsExactly(":method: GET", ":scheme: http", ":path: /");
  }

  @Test
  void hasTheStatusOfAResponse() {
    var head = new OutgoingHttp2Head().response("200", fields());

    assertThat(head.status()).hasToString("200");
    assertThat(text(head)).startsWith(":status: 200", "accept: x");
  }

  @Test
  void hasOnlyFieldsAsTrailers() {
    assertThat(text(new OutgoingHttp2Head().trailers(fields()))).containsExactly("accept: x",
        "own: 1",
        "accept: y");
    assertThat(new OutgoingHttp2Head().trailers(new HeaderFieldList(false)).isEmpty()).isTrue();
  }

  @Test
  void servesOneHeadAfterTheOther() {
    var head = new OutgoingHttp2Head();
    head.request("GET", "http", "/", "example.com", fields());
    assertThat(text(head)).hasSize(7);

    assertThat(text(head.response("204", new HeaderFieldList(false))))
        .containsExactly(":status: 204");
    assertThat(text(head.request("GET", "http", "/", null, new HeaderFieldList(false))))
        .containsExactly(":method: GET", ":scheme: http", ":path: /");
  }

  @Test
  void takesFieldsOfAnyKind() {
    assertThat(
        text(new OutgoingHttp2Head().response("200", new DefaultHttpHeaders().add("Accept", "x"))))
        .containsExactly(":status: 200", "accept: x");
  }

  private static HttpHeaders fields() {
    return new HeaderFieldList(false).add("Accept", "x").add("Host", "h").add("Connection", "close")
        .add("Own", "1").add("Keep-Alive", "1").add("Transfer-Encoding", "chunked")
        .add("Proxy-Connection", "close").add("Upgrade", "h2c").add("accept", "y");
  }

  private static List<String> text(Http2Headers head) {
    var all = new ArrayList<String>();
    for (var field : head) {
      all.add(field.getKey() + ": " + field.getValue());
    }
    return all;
  }
}
