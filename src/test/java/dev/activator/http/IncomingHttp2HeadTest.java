package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class IncomingHttp2HeadTest {
  private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
  private final IncomingHttp2Head.Decoder decoder = new IncomingHttp2Head.Decoder(true, 1 << 10);

  /** Of names and values. */
  private IncomingHttp2Head decode(String... text) throws Http2Exception {
    var from = new DefaultHttp2Headers(false);
    for (var field : text) {
      int end = field.indexOf('=');
      from.add(AsciiString.of(field.substring(0, end)), AsciiString.of(field.substring(end + 1)));
    }
    var block = Unpooled.buffer();
    encoder.encodeHeaders(1, from, block);
    var head = (IncomingHttp2Head) decoder.decodeHeaders(1, block);
    head.check();
    return head;
  }

  @Test
  void keepsPseudoHeadersApart() throws Exception {
    var head = decode(":method=GET", ":scheme=http", ":path=/a", ":authority=b", "accept=x",
        "own=y");

    assertThat(head.method()).hasToString("GET");
    assertThat(head.scheme()).hasToString("http");
    assertThat(head.path()).hasToString("/a");
    assertThat(head.authority()).hasToString("b");
    assertThat(head.fields().entries()).extracting(Object::toString).containsExactly("accept=x",
        "own=y");
    assertThat(head.size()).isEqualTo(6);
  }

  @Test
  void keepsTheFieldsOfTheFirstHead_whenTheNextIsDecoded() throws Exception {
    var first = decode(":status=200", "a=1", "b=x ").fields();
    var second = decode("c=3");

    assertThat(first.entries()).hasSize(2);
    assertThat(second.fields().entries()).extracting(Object::toString).containsExactly("c=3");
    assertThat(second.status()).isNull();
    assertThat(second.hasPseudoHeaders()).isFalse();
    assertThat(second.endsInBlank()).isFalse();
  }

  @Test
  void reportsValuesThatEndInABlank() throws Exception {
    assertThat(decode("a=x\t").endsInBlank()).isTrue();
    assertThat(decode("a=x y", "b=").endsInBlank()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {":path=/,:path=/", ":unknown=x", ":path=", ":status=200,:path=/",
      ":protocol=websocket",
      ":path=/,:status=200", "Accept=x", "Own=x", "a b=x", "=x", "connection=close",
      "keep-alive=x", "proxy-connection=x", "transfer-encoding=chunked", "upgrade=h2c", "te=gzip",
      "a=x\0y", "a= x", "a=x\ny"})
  void refusesWhatIsMalformed(String fields) {
    assertThatThrownBy(() -> decode(fields.split(",")))
        .isInstanceOf(Http2Exception.StreamException.class);
  }

  @Test
  void refusesAPseudoHeaderBehindAField() {
    var head = new IncomingHttp2Head(true);
    head.add("a", "x");

    assertThatThrownBy(() -> head.add(":path", "/")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void keepsNoMoreThanTheTextOfAValue() throws Exception {
    // Two characters of 20 bits each.
    byte[] pair = {-1, -2, 0x6f, -1, -26};
    var block = Unpooled.buffer()
        .writeBytes(new byte[]{0, 1, 'a', -1, (byte) (1_000 - 127 & 127 | 128),
            (1_000 - 127) >> 7});
    for (int i = 0; i < 200; i++) {
      block.writeBytes(pair);
    }

    var head = (IncomingHttp2Head) decoder.decodeHeaders(1, block);

    var value = (AsciiString) head.fields().iteratorCharSequence().next().getValue();
    assertThat(value.length()).isEqualTo(400);
    assertThat(value.array().length).isEqualTo(400);
  }

  @Test
  void stillDecodesAfterAMalformedHead() throws Exception {
    assertThatThrownBy(() -> decode("own=x", "Bad=y")).isInstanceOf(Http2Exception.class);

    assertThat(decode("own=x").fields().entries()).extracting(Object::toString)
        .containsExactly("own=x");
  }

  @Test
  void keepsNothingOfAHeadThatWasHandled() throws Exception {
    var head = decode(":path=/", "a=x ");
    var fields = head.fields();

    decoder.forget();

    assertThat(head.isEmpty()).isTrue();
    assertThat(head.path()).isNull();
    assertThat(fields.entries()).hasSize(1);
  }

  @Test
  void refusesAHead_whenItIsTooLarge() {
    assertThatThrownBy(() -> decode("a=" + "x".repeat(1 << 10)))
        .isInstanceOf(Http2Exception.HeaderListSizeException.class);
  }
}
