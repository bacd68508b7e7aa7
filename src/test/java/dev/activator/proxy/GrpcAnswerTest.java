package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrpcAnswerTest {
  @ParameterizedTest
  @CsvSource({"400, 13", "401, 16", "403, 7", "404, 12", "417, 2", "429, 8", "431, 2", "500, 2",
      "502, 14", "503, 14", "504, 4"})
  void hasTheStatusOfGrpc(int http, int grpc) {
    assertThat(GrpcAnswer.of(LocalResponse.empty(http)).headers())
        .containsEntry("grpc-status", Integer.toString(grpc));
  }

  @ParameterizedTest
  @CsvSource({"no pod is ready, no pod is ready", "100 % of 'x', 100 %25 of 'x'",
      "größer, gr%C3%B6%C3%9Fer", "'', ''"})
  void encodesTheMessage(String text, String encoded) {
    assertThat(GrpcAnswer.encoded(text)).isEqualTo(encoded);
  }

  @Test
  void encodesLineEndsAndControlCharacters() {
    assertThat(GrpcAnswer.encoded("a\r\nb\0\u007f")).isEqualTo("a%0D%0Ab%00%7F");
  }

  @Test
  void keepsReasonAndRetryAfter_andHasNoBody() {
    assertThat(GrpcAnswer.of(RequestFailure.queueFull(7).answer()))
        .isEqualTo(new LocalResponse(200,
            Map.of("Content-Type", "application/grpc", "K-Activator-Reason", "queue-full",
                "Retry-After", "7", "grpc-status", "14", "grpc-message",
                "pending request queue full"),
            ""));
  }
}
