package dev.activator.embedded.api.http;

import dev.activator.embedded.api.schema.KubernetesProtobufReader;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Json;
import java.util.ArrayDeque;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerRequest;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLParser;

/** Reads request bodies as JSON, YAML or protobuf. */
final class ApiBodyReader {
  static final int LIMIT_BYTES = 3 * 1024 * 1024;

  private static final List<String> OBJECT_TYPES = List.of("application/json", "application/yaml",
      KubernetesProtobufReader.TYPE);

  private static final YAMLMapper YAML = YAMLMapper.builder()
      .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private static final int MAX_PROBLEM_LENGTH = 300;
  private static final Pattern ABOUT_THE_READER = Pattern
      .compile("\\s*+(?:\\((?:start marker|bound as|from) .*|: not allowed as per .*)");

  private ApiBodyReader() {}

  /** The media type of the body; JSON if the client names none. */
  static String type(ServerRequest request) {
    try {
      var type = request.headers().contentType().orElse(MediaType.APPLICATION_JSON);
      return type.getType() + "/" + type.getSubtype();
    } catch (InvalidMediaTypeException _) {
      return "";
    }
  }

  static Mono<ObjectNode> object(ServerRequest request) {
    String type = type(request);
    if (!OBJECT_TYPES.contains(type)) {
      return Mono.error(StatusErrors.unknownFormat(OBJECT_TYPES));
    }
    return bytes(request).map(bytes -> object(parse(type, bytes)));
  }

  static Mono<JsonNode> patch(ServerRequest request) {
    String type = type(request);
    return bytes(request).map(bytes -> parse(type, bytes));
  }

  /** Reads options. A body of an unknown type is ignored. */
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
    throw StatusException.badRequest("the body is not an object");
  }

  private static Mono<byte[]> bytes(ServerRequest request) {
    return request.bodyToMono(byte[].class).defaultIfEmpty(new byte[0]);
  }

  private static JsonNode parse(String type, byte[] bytes) {
    return switch (type) {
      case KubernetesProtobufReader.TYPE -> KubernetesProtobufReader.read(bytes);
      case String yaml when yaml.endsWith("yaml") -> yaml(bytes);
      default -> json(bytes);
    };
  }

  private static JsonNode json(byte[] bytes) {
    return finite(Json.MAPPER.readTree(bytes));
  }

  private static JsonNode yaml(byte[] bytes) {
    refuseAliases(bytes);
    return finite(YAML.readTree(bytes));
  }

  static String problem(JacksonException unreadable) {
    String whole = unreadable.getOriginalMessage().lines().findFirst().orElse("");
    // The message contains a part of the document, which may be long.
    String start = whole.substring(0, Math.min(whole.length(), MAX_PROBLEM_LENGTH));
    String what = ABOUT_THE_READER.matcher(start).replaceAll("");
    var place = unreadable.getLocation();
    return "the body cannot be read: " + what + (place == null || place.getLineNr() < 1
        ? ""
        : ", at line " + place.getLineNr() + ", column " + place.getColumnNr());
  }

  /** Refuses YAML aliases, because a few of them can expand to gigabytes. */
  private static void refuseAliases(byte[] bytes) {
    try (var parser = (YAMLParser) YAML.createParser(bytes)) {
      while (parser.nextToken() != null) {
        if (parser.isCurrentAlias()) {
          throw StatusException
              .badRequest("the body cannot be read: YAML aliases are not supported,"
                  + " found one at line " + parser.currentTokenLocation().getLineNr());
        }
      }
    }
  }

  /**
   * Refuses numbers that are out of range. They are read as infinite, which JSON cannot express.
   */
  private static JsonNode finite(JsonNode tree) {
    var left = new ArrayDeque<JsonNode>();
    left.push(tree);
    while (!left.isEmpty()) {
      var node = left.pop();
      if (node.isDouble() && !Double.isFinite(node.doubleValue())) {
        throw StatusException.badRequest("the body cannot be read: it has a number out of range");
      }
      node.valueStream().forEach(left::push);
    }
    return tree;
  }
}
