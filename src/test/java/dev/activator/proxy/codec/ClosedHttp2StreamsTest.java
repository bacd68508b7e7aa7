package dev.activator.proxy.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import org.junit.jupiter.api.Test;

class ClosedHttp2StreamsTest {
  private final ClosedHttp2Streams history = new ClosedHttp2Streams();

  @Test
  void reportsProtocolError_whenAStreamIdWasSkipped() {
    // given the streams 1 and 3
    history.created();
    history.created();
    assertThat(history.errorOfUnknown(3)).isEqualTo(Http2Error.STREAM_CLOSED);

    // when 7 comes, without 5
    history.created();

    assertThat(history.errorOfUnknown(7)).isEqualTo(Http2Error.PROTOCOL_ERROR);
  }

  @Test
  void remembersWhatWasResetHereForAWhile() {
    history.reset(1);
    assertThat(history.wasReset(1)).isTrue();
    assertThat(history.wasReset(3)).isFalse();

    for (int i = 1; i <= 1_000; i++) {
      history.reset(2 * i + 1);
    }

    assertThat(history.wasReset(1)).isFalse();
    assertThat(history.wasReset(3)).isTrue();
    assertThat(history.wasReset(2_001)).isTrue();
  }
}
