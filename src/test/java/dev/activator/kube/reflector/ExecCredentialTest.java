package dev.activator.kube.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExecCredentialTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final String V1 = "client.authentication.k8s.io/v1";

  @ParameterizedTest
  @CsvSource({
      // An hour: a minute early. Five minutes: a tenth early.
      "2026-01-01T01:00:00Z, 2026-01-01T00:59:00Z",
      "2026-01-01T00:05:00Z, 2026-01-01T00:04:30Z",
      "2026-01-01T02:05:00+02:00, 2026-01-01T00:04:30Z",
      // Over already: not at once again.
      "2025-12-31T00:00:00Z, 2026-01-01T00:00:01Z",
      "2026-01-01T00:00:00Z, 2026-01-01T00:00:01Z"})
  void isRenewedBeforeItEnds(String end, Instant renewal) {
    assertThat(ExecCredential.parse("{\"kind\": \"ExecCredential\", \"apiVersion\": \"" + V1
        + "\", \"status\": {\"token\": \"t\", \"expirationTimestamp\": \"" + end + "\"}}", V1, NOW)
        .renewal()).isEqualTo(renewal);
  }
}
