package dev.activator.embedded.api.http;

import java.util.ArrayList;
import dev.activator.embedded.api.policy.ReadParameters.InvalidParameter;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.JsonPatch.PatchException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes the responses of the API: objects, lists and Status errors. Each response has a content
 * type, because some clients parse a response without one as protobuf.
 */
final class ApiResponseWriter {
  private static final Logger log = LoggerFactory.getLogger(ApiResponseWriter.class);

  private static final int TOO_LARGE = 413;

  /** Field 1, {@code swagger}, and 2, {@code info}, with a title and a version. */
  private static final byte[] OPENAPI_V2 = "\n\0032.0\022\017\n\tactivator\022\002v1"
      .getBytes(StandardCharsets.US_ASCII);

  private ApiResponseWriter() {}

  static Mono<ServerResponse> ok(ObjectNode body) {
    return json(200, Json.bytes(body));
  }

  static Mono<ServerResponse> ok(ObjectNode body, List<String> warnings) {
    return warned(200, body, warnings);
  }

  static Mono<ServerResponse> created(ObjectNode body, List<String> warnings) {
    return warned(201, body, warnings);
  }

  private static Mono<ServerResponse> warned(int code, ObjectNode body, List<String> warnings) {
    var answer = ServerResponse.status(code).contentType(MediaType.APPLICATION_JSON);
    Warnings.headers(warnings).forEach(value -> answer.header("Warning", value));
    return bytes(answer, Json.bytes(body));
  }

  static Mono<ServerResponse> json(int code, byte[] body) {
    return bytes(ServerResponse.status(code).contentType(MediaType.APPLICATION_JSON), body);
  }

  static Mono<ServerResponse> text(String body) {
    return ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).bodyValue(body);
  }

  /** An empty document of OpenAPI v2, which kubectl reads for kinds that v3 does not have. */
  static Mono<ServerResponse> openApiV2() {
    return bytes(ServerResponse.ok().header("Content-Type",
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"), OPENAPI_V2);
  }

  static Mono<ServerResponse> failed(Throwable failure) {
    var refused = refusal(failure);
    var answer = ServerResponse.status(refused.code()).contentType(MediaType.APPLICATION_JSON);
    if (refused.retryAfterSeconds() > 0) {
      answer.header("Retry-After", Integer.toString(refused.retryAfterSeconds()));
    }
    if (refused.code() == TOO_LARGE) {
      // The connection is closed, because the rest of the request is not read.
      answer.header("Connection", "close");
    }
    return bytes(answer, Json.bytes(refused.status()));
  }

  private static Mono<ServerResponse> bytes(ServerResponse.BodyBuilder answer, byte[] body) {
    return answer.build((exchange, _) -> {
      var response = exchange.getResponse();
      response.getHeaders().setContentLength(body.length);
      return response.writeWith(Mono.just(response.bufferFactory().wrap(body)));
    });
  }

  private static StatusException refusal(Throwable failure) {
    return switch (failure) {
      case StatusException refused -> refused;
      case InvalidParameter invalid -> StatusErrors.parameter(invalid);
      case PatchException unfit -> StatusErrors.patch(unfit);
      case DataBufferLimitException _ -> StatusErrors.tooLarge();
      case JacksonException unreadable ->
        StatusException.badRequest(ApiBodyReader.problem(unreadable));
      case IllegalArgumentException wrong ->
        StatusException.badRequest(String.valueOf(wrong.getMessage()));
      case AbortedException gone -> {
        log.debug("The client closed the connection before its request was complete", gone);
        yield StatusException.badRequest("the request ended before its body did");
      }
      default -> {
        log.error("A request to the embedded API failed", failure);
        yield StatusException.internal("the server failed; its log says why");
      }
    };
  }

  /**
   * Makes values of the header {@code Warning}, which kubectl prints and other clients log.
   *
   * <p><b>Source.</b> {@code endpoints/filters/warning.go} in Kubernetes' apiserver, which has the
   * same limits.
   */
  static final class Warnings {
    private static final int MAX_LENGTH = 256;
    private static final int MAX_TOTAL_LENGTH = 4 * 1024;

    private Warnings() {}

    /**
     * The header values. If all texts together are too long, long ones are shortened, and then the
     * last ones are left out.
     */
    public static List<String> headers(List<String> texts) {
      var distinct = texts.stream().distinct().toList();
      boolean shorten = distinct.stream().mapToInt(String::length).sum() > MAX_TOTAL_LENGTH;
      var headers = new ArrayList<String>();
      int length = 0;
      for (var text : distinct) {
        var shown = shorten && text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) : text;
        length += shown.length();
        if (length > MAX_TOTAL_LENGTH) {
          break;
        }
        headers.add("299 - \"" + escaped(shown) + '"');
      }
      return headers;
    }

    /** The text with question marks for characters that a header cannot carry. */
    private static String escaped(String text) {
      return text.replaceAll("[^\\x20-\\x7e]", "?").replace("\\", "\\\\").replace("\"", "\\\"");
    }
  }
}
