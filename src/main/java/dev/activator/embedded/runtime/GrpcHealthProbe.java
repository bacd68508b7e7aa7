package dev.activator.embedded.runtime;

import com.google.protobuf.ByteString;
import com.google.protobuf.Int32Value;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

/**
 * Calls gRPC's health check. Both of its messages have one field, so protobuf's wrapper messages
 * are used to encode them.
 *
 * <p><b>Source.</b> {@code grpc.health.v1.Health/Check}, and {@code pkg/probe/grpc} of Kubernetes.
 */
final class GrpcHealthProbe {
  /**
   * The length of a message's prefix: a byte that means "not compressed", and the length of the
   * message.
   */
  private static final int PREFIX_BYTES = 5;
  /** The limit of an answer, which has seven bytes. A program may send more, without end. */
  private static final int MAX_BYTES = 1024;
  private static final List<String> STATUS = List.of("UNKNOWN", "SERVING", "NOT_SERVING",
      "SERVICE_UNKNOWN");

  private GrpcHealthProbe() {}

  /**
   * Calls the health check. Blocks. Returns why the service is not healthy, as the end of a
   * sentence, or an empty text.
   */
  static String problem(int port, String service, Duration timeout) {
    byte[] message = StringValue.of(service).toByteArray();
    var request = ByteBuffer.allocate(PREFIX_BYTES + message.length).put((byte) 0)
        .putInt(message.length).put(message).array();
    return HttpClient.newConnection().protocol(HttpProtocol.H2C).host("127.0.0.1").port(port)
        .headers(headers -> headers.set("Content-Type", "application/grpc").set("TE", "trailers")
            .set("User-Agent", "kube-probe/1.34"))
        .post().uri("/grpc.health.v1.Health/Check")
        .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(request)))
        .response((response, body) -> body.asByteArray().map(ByteString::copyFrom)
            .scan(ByteString.EMPTY, ByteString::concat).takeUntil(all -> all.size() > MAX_BYTES)
            .last().map(all -> problem(all, response.responseHeaders().get("grpc-status"))))
        .next().timeout(timeout)
        .onErrorResume(failure -> Mono.just(failure instanceof TimeoutException
            ? "does not answer within " + timeout.toSeconds() + " s"
            : "does not speak gRPC"))
        .blockOptional().orElse("does not answer");
  }

  /** The problem in an answer. If it has no message, the error is in its headers. */
  private static String problem(ByteString answer, @Nullable String code) {
    if (answer.size() < PREFIX_BYTES) {
      return "answers with " + (code == null ? "no message" : "the gRPC status " + code);
    }
    try {
      int status = Int32Value.parseFrom(answer.substring(PREFIX_BYTES)).getValue();
      var name = STATUS.get(status > 0 && status < STATUS.size() ? status : 0);
      return name.equals("SERVING") ? "" : "answers with " + name;
    } catch (InvalidProtocolBufferException e) {
      return "answers with what is no message";
    }
  }
}
