package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.HeaderFieldList;
import dev.activator.revision.PortProtocol;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodProtocolTest {
  @ParameterizedTest
  @CsvSource(delimiter = '|', nullValues = "", textBlock = """
      # pods       | port  | caller | field                                  | to the pod
      queue-proxy  | HTTP1 | HTTP1  |                                        | HTTP1
      queue-proxy  | HTTP1 | H2C    |                                        | H2C
      queue-proxy  | H2C   | HTTP1  |                                        | HTTP1
      queue-proxy  | H2C   | H2C    |                                        | H2C
      container    | HTTP1 | HTTP1  |                                        | HTTP1
      container    | HTTP1 | H2C    |                                        | HTTP1
      container    | H2C   | HTTP1  |                                        | H2C
      container    | H2C   | H2C    |                                        | H2C
      container    | HTTP1 | H2C    | Content-Type: application/grpc         | H2C
      container    | HTTP1 | H2C    | Content-Type: application/grpc+proto   | H2C
      container    | HTTP1 | HTTP1  | Content-Type: application/grpc         | HTTP1
      container    | HTTP1 | H2C    | Content-Type: application/json         | HTTP1
      container    | H2C   | HTTP1  | Upgrade: websocket                     | HTTP1
      """)
  void isThatOfTheCallerForAQueueProxy_andThatOfThePortForAContainer(String pods, PortProtocol port,
      PortProtocol caller, String field, PortProtocol expected) {
    var fields = new DefaultHttpHeaders();
    if (field != null) {
      fields.add(field.split(": ")[0], field.split(": ")[1]);
    }

    assertThat(PodProtocol.of(caller == PortProtocol.H2C, pods.equals("queue-proxy"), port,
        HeaderFieldList.of(fields))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"application/grpc, true", "application/grpc+proto, true",
      "application/grpc;charset=utf-8, true", "application/grpc-web, false",
      "application/grpc-web+proto, false", "application/json, false", "'', false"})
  void knowsGrpc_whichGrpcWebIsNot(String contentType, boolean grpc) {
    var fields = new DefaultHttpHeaders().set("Content-Type", contentType);
    assertThat(PodProtocol.isGrpc(HeaderFieldList.of(fields))).isEqualTo(grpc);
  }
}
