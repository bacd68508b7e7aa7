package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.Http1Encoder.RequestEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class Http1EncoderTest {
  private static final String HEAD = "POST / HTTP/1.1\r\n";

  private final EmbeddedChannel channel = new EmbeddedChannel(new RequestEncoder());

  @AfterEach
  void close() {
    assertThat(channel.finish()).isFalse();
  }

  @Test
  void writesAHeadAndASmallBodyAsOneBuffer() {
    write(request("Content-Length", "3"));
    write(last("foo"));

    assertThat(flushed()).containsExactly(HEAD + "Content-Length: 3\r\n\r\nfoo");
  }

  @Test
  void writesAHeadWithoutABodyAsOneBuffer() {
    write(request());
    write(LastHttpContent.EMPTY_LAST_CONTENT);

    assertThat(flushed()).containsExactly(HEAD + "\r\n");
  }

  @Test
  void writesASmallChunkedBodyWithItsTrailersAsOneBuffer() {
    var last = new DefaultLastHttpContent(bytes("bar"));
    last.trailingHeaders().set("Sum", "6");
    write(request("Transfer-Encoding", "chunked"));
    write(part("foo"));
    write(last);

    assertThat(flushed()).containsExactly(HEAD + "Transfer-Encoding: chunked\r\n\r\n"
        + "3\r\nfoo\r\n3\r\nbar\r\n0\r\nSum: 6\r\n\r\n");
  }

  @Test
  void doesNotCopyALargeBody() {
    var body = bytes("x".repeat(100_000));
    write(request("Content-Length", "100000"));
    write(new DefaultLastHttpContent(body));
    channel.flush();

    assertThat(text(channel.readOutbound())).isEqualTo(HEAD + "Content-Length: 100000\r\n\r\n");
    assertThat(channel.<ByteBuf>readOutbound()).isSameAs(body);
    body.release();
  }

  @Test
  void doesNotCopyALargeChunk() {
    var large = "x".repeat(100_000);
    write(request("Transfer-Encoding", "chunked"));
    write(part(large));
    write(last(large));

    assertThat(String.join("", flushed())).isEqualTo(HEAD + "Transfer-Encoding: chunked\r\n\r\n"
        + "186a0\r\n" + large + "\r\n186a0\r\n" + large + "\r\n0\r\n\r\n");
  }

  @Test
  void writesAHeadThatIsFlushedBeforeItsBody() {
    write(request("Content-Length", "3"));
    assertThat(flushed()).containsExactly(HEAD + "Content-Length: 3\r\n\r\n");

    write(last("foo"));
    assertThat(flushed()).containsExactly("foo");
  }

  @Test
  void keepsTheOrderOfMessages() {
    write(request("Content-Length", "3"));
    write(last("foo"));
    write(request());
    write(LastHttpContent.EMPTY_LAST_CONTENT);

    assertThat(String.join("", flushed()))
        .isEqualTo(HEAD + "Content-Length: 3\r\n\r\nfoo" + HEAD + "\r\n");
  }

  @Test
  void writesWhatItHoldsWhenItIsRemoved() {
    write(request());
    channel.pipeline().remove(RequestEncoder.class);

    assertThat(flushed()).containsExactly(HEAD + "\r\n");
  }

  @Test
  void failsTheHeadThatItHoldsWhenTheConnectionEnds() {
    var written = channel.write(request());
    channel.close();

    assertThat(written.isSuccess()).isFalse();
    assertThat(written.isDone()).isTrue();
  }

  @Test
  void failsAHeadWithinABody() {
    write(request("Content-Length", "3"));
    var second = channel.write(request());

    assertThat(second.cause()).isInstanceOf(IllegalStateException.class);
    assertThat(flushed()).containsExactly(HEAD + "Content-Length: 3\r\n\r\n");
  }

  private static HttpRequest request(String... field) {
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
    if (field.length > 0) {
      request.headers().set(field[0], field[1]);
    }
    return request;
  }

  private static HttpContent part(String text) {
    return new DefaultHttpContent(bytes(text));
  }

  private static HttpContent last(String text) {
    return new DefaultLastHttpContent(bytes(text));
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
  }

  private void write(Object part) {
    channel.write(part, channel.voidPromise());
  }

  private List<String> flushed() {
    channel.flush();
    var all = new ArrayList<String>();
    for (ByteBuf each = channel.readOutbound(); each != null; each = channel.readOutbound()) {
      all.add(text(each));
    }
    return all;
  }

  private static String text(ByteBuf bytes) {
    var text = bytes.toString(StandardCharsets.US_ASCII);
    bytes.release();
    return text;
  }
}
