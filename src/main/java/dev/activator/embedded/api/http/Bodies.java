package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.Json;
import java.util.List;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerRequest;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads what clients send. */
final class Bodies {
  /** As much as a Kubernetes API server takes. */
  static final int LIMIT_BYTES = 3 * 1024 * 1024;

  private static final List<String> OBJECT_TYPES = List.of("application/json", "application/yaml");

  private Bodies() {}

  /** The type of the body, without parameters; JSON if the client does not say. */
  static String type(ServerRequest request) {
    try {
      var type = request.headers().contentType().orElse(MediaType.APPLICATION_JSON);
      return type.getType() + "/" + type.getSubtype();
    } catch (InvalidMediaTypeException _) {
      return "";
    }
  }

  /** An object in JSON or YAML. */
  static Mono<ObjectNode> object(ServerRequest request) {
    String type = type(request);
    if (!OBJECT_TYPES.contains(type)) {
      return Mono.error(Refusals.unknownFormat(OBJECT_TYPES));
    }
    return bytes(request).map(bytes -> object(parse(type, bytes)));
  }

  /** A patch of any shape; the type says how to read it. */
  static Mono<JsonNode> patch(ServerRequest request) {
    String type = type(request);
    return bytes(request).map(bytes -> parse(type, bytes));
  }

  /** What comes with a delete, or nothing: types that are not known are passed over. */
  static Mono<ObjectNode> options(ServerRequest request) {
    String type = type(request);
    if (!OBJECT_TYPES.contains(type)) {
      return bytes(request).map(_ -> Json.object());
    }
    return bytes(request)
        .map(bytes -> bytes.length == 0 ? Json.object() : object(parse(type, bytes)));
  }

  static ObjectNode object(JsonNode node) {
    if (node instanceof ObjectNode object) {
      return object;
    }
    throw ApiException.badRequest("the body is not an object");
  }

  private static Mono<byte[]> bytes(ServerRequest request) {
    return request.bodyToMono(byte[].class).defaultIfEmpty(new byte[0]);
  }

  private static JsonNode parse(String type, byte[] bytes) {
    return type.endsWith("yaml") ? Documents.yaml(bytes) : Documents.json(bytes);
  }
}
