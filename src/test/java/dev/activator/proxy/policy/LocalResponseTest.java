package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalResponseTest {
  @ParameterizedTest
  @CsvSource({"400, 13", "401, 16", "403, 7", "404, 12", "417, 2", "429, 8", "431, 2", "500, 2",
      "502, 14", "503, 14", "504, 4"})
  void hasTheStatusOfGrpc_forGrpc(int http, int grpc) {
    assertThat(LocalResponse.empty(http).forGrpc().headers())
        .containsEntry("grpc-status", Integer.toString(grpc));
  }

  @ParameterizedTest
  @CsvSource({"no pod is ready, no pod is ready", "100 % of 'x', 100 %25 of 'x'",
      "größer, gr%C3%B6%C3%9Fer", "'', ''"})
  void encodesTheMessage_forGrpc(String text, String encoded) {
    assertThat(LocalResponse.grpcMessage(text)).isEqualTo(encoded);
  }

  @Test
  void encodesLineEndsAndControlCharacters_forGrpc() {
    assertThat(LocalResponse.grpcMessage("a\r\nb\0\u007f")).isEqualTo("a%0D%0Ab%00%7F");
  }

  @Test
  void keepsReasonAndRetryAfterAndHasNoBody_forGrpc() {
    assertThat(RequestFailure.queueFull(7).answer().forGrpc())
        .isEqualTo(new LocalResponse(200,
            Map.of("Content-Type", "application/grpc", "K-Activator-Reason", "queue-full",
                "Retry-After", "7", "grpc-status", "14", "grpc-message",
                "pending request queue full"),
            ""));
  }
}
