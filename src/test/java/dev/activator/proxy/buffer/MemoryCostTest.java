package dev.activator.proxy.buffer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.codec.RequestDecoder;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class MemoryCostTest {
  private static int size(String head) {
    var connection = new EmbeddedChannel(new RequestDecoder());
    connection.writeInbound(Unpooled.copiedBuffer(head, StandardCharsets.US_ASCII));
    HttpRequest request = connection.readInbound();
    connection.finishAndReleaseAll();
    return MemoryCost.of(request);
  }

  @Test
  void ofAHeadIsMoreThanItsBytes() {
    // 512, a line of 14, and a field of 2 that takes 100 more
    assertThat(size("GET / HTTP/1.1\r\nA:\r\n\r\n")).isEqualTo(512 + 14 + 2 + 100);
    assertThat(size("GET / HTTP/1.1\r\n" + "A:\r\n".repeat(1_000) + "\r\n"))
        .isEqualTo(512 + 14 + 1_000 * 102);
  }

  @Test
  void ofFieldsIsCountedOneByOneWhereTheirBytesAreNotKnown() {
    var fields = new DefaultHttpHeaders().add("X-T", "ab").add("X-U", "");
    assertThat(MemoryCost.ofFields(fields)).isEqualTo(105 + 103);
  }
}
