package dev.activator.embedded.runtime;

import com.google.protobuf.CodedOutputStream;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

/**
 * A call of gRPC's health check.
 *
 * <p>
 * <b>Source.</b> {@code grpc.health.v1.Health/Check}, and {@code pkg/probe/grpc} of Kubernetes.
 */
final class GrpcHealth {
  private static final String METHOD = "/grpc.health.v1.Health/Check";
  /** A byte that says "not compressed", and the length of the message. */
  private static final int PREFIX_BYTES = 5;
  private static final int STATUS_FIELD = 1 << 3;
  private static final String[] STATUS = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  private static final int SERVING = 1;

  private GrpcHealth() {}

  /** Blocks. Returns why the service is not healthy, as the end of a sentence; or an empty text. */
  static String problem(int port, String service, Duration timeout) {
    var request = request(service);
    var answer = HttpClient.newConnection().protocol(HttpProtocol.H2C)
        .host(InetAddress.getLoopbackAddress().getHostAddress()).port(port)
        .headers(headers -> headers.set("Content-Type", "application/grpc").set("TE", "trailers")
            .set("User-Agent", "kube-probe/1.34"))
        .post().uri(METHOD).send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(request)))
        .responseSingle((response, body) -> body.asByteArray().defaultIfEmpty(new byte[0])
            .map(bytes -> problem(bytes, response.responseHeaders())))
        .timeout(timeout).onErrorResume(failure -> Mono.just(failure instanceof TimeoutException
            ? "does not answer within " + timeout.toSeconds() + " s"
            : "does not speak gRPC"))
        .block();
    return answer == null ? "does not answer" : answer;
  }

  private static byte[] request(String service) {
    var message = new ByteArrayOutputStream();
    try {
      var out = CodedOutputStream.newInstance(message);
      if (!service.isEmpty()) {
        out.writeString(1, service);
      }
      out.flush();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return ByteBuffer.allocate(PREFIX_BYTES + message.size()).put((byte) 0).putInt(message.size())
        .put(message.toByteArray()).array();
  }

  /** An answer without a message has its error in the head. */
  private static String problem(byte[] answer, HttpHeaders head) {
    if (answer.length < PREFIX_BYTES) {
      @Nullable String code = head.get("grpc-status");
      return "answers with " + (code == null ? "no message" : "the gRPC status " + code);
    }
    int status = answer.length > PREFIX_BYTES + 1 && answer[PREFIX_BYTES] == STATUS_FIELD
        ? answer[PREFIX_BYTES + 1]
        : 0;
    return status == SERVING
        ? ""
        : "answers with " + (status > 0 && status < STATUS.length ? STATUS[status] : STATUS[0]);
  }
}
