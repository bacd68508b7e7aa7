package dev.activator.proxy.policy.field;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.policy.field.ResponseHeaders.End;
import org.junit.jupiter.api.Test;

class ResponseHeadersTest {
  @Test
  void endByTheLengthWhereThereIsOne() {
    var fields = MapFields.of("Content-Length", "3", "Connection", "close, x-foo", "X-Foo", "1");

    assertThat(ResponseHeaders.rewrite(fields, Version.HTTP_1_1, false)).isEqualTo(End.LENGTH);
    assertThat(fields.all("Connection")).isEmpty();
    assertThat(fields.all("X-Foo")).isEmpty();
    assertThat(fields.all("Content-Length")).containsExactly("3");
  }

  @Test
  void endByAChunkWhereNot() {
    var fields = MapFields.of("Trailer", "X-Sum");

    assertThat(ResponseHeaders.rewrite(fields, Version.HTTP_1_1, false)).isEqualTo(End.CHUNK);
    assertThat(fields.all("Transfer-Encoding")).containsExactly("chunked");
    assertThat(fields.all("Trailer")).containsExactly("X-Sum");
  }

  @Test
  void endWithTheConnectionForCallersThatKnowNoChunks() {
    var fields = MapFields.of("Transfer-Encoding", "chunked", "Trailer", "X-Sum");

    assertThat(ResponseHeaders.rewrite(fields, Version.HTTP_1_0, false)).isEqualTo(End.CLOSE);
    assertThat(fields.all("Transfer-Encoding")).isEmpty();
    assertThat(fields.all("Trailer")).isEmpty();
  }

  @Test
  void endWithTheStreamInHttp2() {
    var fields = MapFields.of("Transfer-Encoding", "chunked", "Connection", "close", "Trailer",
        "X-Sum");

    assertThat(ResponseHeaders.rewrite(fields, Version.HTTP_2, false)).isEqualTo(End.STREAM);
    assertThat(fields.all("Transfer-Encoding")).isEmpty();
    assertThat(fields.all("Connection")).isEmpty();
    assertThat(fields.all("Trailer")).containsExactly("X-Sum");
  }

  @Test
  void sayNothingOfChunksWhereThereIsNoBody() {
    var fields = MapFields.of("Transfer-Encoding", "chunked");

    assertThat(ResponseHeaders.rewrite(fields, Version.HTTP_1_1, true)).isEqualTo(End.LENGTH);
    assertThat(fields.all("Transfer-Encoding")).isEmpty();
  }
}
