package dev.activator.ext.admit;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.wire.CheckRequest;
import dev.activator.wire.CheckResponse;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.ByteBuffer;

/**
 * Decodes and encodes the messages of Envoy's external authorization.
 *
 * <p><b>Source.</b> {@code envoy/service/auth/v3/external_auth.proto}; gRPC's PROTOCOL-HTTP2.md.
 */
final class ExtAuthzCodec {
  static final String PATH = "/envoy.service.auth.v3.Authorization/Check";
  private static final String GRPC = "application/grpc";
  private static final int PREFIX = 5;
  private static final int DEADLINE_EXCEEDED = 4;
  private static final int NOT_FOUND = 5;
  private static final int PERMISSION_DENIED = 7;
  private static final int UNAVAILABLE = 14;

  private ExtAuthzCodec() {}

  static boolean isGrpc(HttpRequest question) {
    return question.protocolVersion().majorVersion() == 2
        && question.headers().get("Content-Type", "").startsWith(GRPC);
  }

  static HttpResponse head() {
    var head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
        HeaderFieldList.CHECKED);
    head.headers().set("Content-Type", GRPC);
    return head;
  }

  /** @param body one message with its prefix */
  static CheckRequest.Http decode(byte[] body) throws InvalidProtocolBufferException {
    var buffer = ByteBuffer.wrap(body);
    if (body.length < PREFIX || buffer.get() != 0 || buffer.getInt() != body.length - PREFIX) {
      throw new InvalidProtocolBufferException("it is not one uncompressed message");
    }
    return CheckRequest.parseFrom(buffer).getAttributes().getRequest().getHttp();
  }

  static boolean isAdmitted(LocalResponse answer) {
    return answer.status() == 200 && answer.headers().containsKey(GatewayHandover.POD);
  }

  static CheckResponse of(LocalResponse answer) {
    var response = CheckResponse.newBuilder();
    if (isAdmitted(answer)) {
      return response.setStatus(CheckResponse.Status.getDefaultInstance())
          .setOkResponse(CheckResponse.Ok.getDefaultInstance()).build();
    }
    var denied = CheckResponse.Denied.newBuilder().setBody(answer.body())
        .setStatus(CheckResponse.HttpStatus.newBuilder().setCode(answer.status()));
    answer.headers().forEach((name, value) -> denied.addHeaders(CheckResponse.HeaderOption
        .newBuilder().setHeader(CheckResponse.Header.newBuilder().setKey(name).setValue(value))));
    return response.setDeniedResponse(denied)
        .setStatus(CheckResponse.Status.newBuilder().setCode(code(answer.status()))).build();
  }

  private static int code(int httpStatus) {
    return switch (httpStatus) {
      case 404 -> NOT_FOUND;
      case 503, 502 -> UNAVAILABLE;
      case 504 -> DEADLINE_EXCEEDED;
      default -> PERMISSION_DENIED;
    };
  }

  static LastHttpContent body(LocalResponse answer) {
    byte[] message = of(answer).toByteArray();
    var prefixed = ByteBuffer.allocate(PREFIX + message.length).put((byte) 0)
        .putInt(message.length).put(message).flip();
    var body = new DefaultLastHttpContent(Unpooled.wrappedBuffer(prefixed));
    body.trailingHeaders().set("grpc-status", "0");
    return body;
  }
}
