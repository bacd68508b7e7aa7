package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.PortProtocol;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServicePortProtocolTest {
  @ParameterizedTest
  @CsvSource({"http, '', HTTP1", "'', '', HTTP1", "web, kubernetes.io/h2c, H2C", "web, grpc, H2C",
      "grpc, http, HTTP1", "grpc, '', H2C", "grpc-web, '', HTTP1", "h2c, '', H2C",
      "http2-api, '', H2C", "httpx, '', HTTP1", "grpcweb, '', HTTP1",
      "web, kubernetes.io/ws, HTTP1"})
  void isThatOfAppProtocol_orElseOfTheName(String name, String appProtocol,
      PortProtocol protocol) {
    assertThat(new KubernetesService.Port(name, 80, "http", appProtocol).protocol())
        .isEqualTo(protocol);
  }
}
