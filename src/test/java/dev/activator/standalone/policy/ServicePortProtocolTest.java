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

  @ParameterizedTest
  @CsvSource({"https, '', true", "https-web, '', true", "web, HTTPS, true", "web, tls, true",
      "web, kubernetes.io/wss, true", "https, http, false", "httpsx, '', false",
      "web, kubernetes.io/ws, false", "http, '', false"})
  void isTls_ifEitherSaysSo(String name, String appProtocol, boolean isTls) {
    assertThat(new KubernetesService.Port(name, 443, "http", appProtocol).isTls())
        .isEqualTo(isTls);
  }
}
