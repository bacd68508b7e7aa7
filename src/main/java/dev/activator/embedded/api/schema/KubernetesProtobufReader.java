package dev.activator.embedded.api.schema;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import dev.activator.embedded.api.schema.ProtobufSchema.Field;
import dev.activator.embedded.api.schema.ProtobufSchema.Label;
import dev.activator.embedded.api.schema.ProtobufSchema.Message;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.StatusException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads objects in Kubernetes' protobuf format, which {@code kubectl create} and typed clients send
 * for built-in kinds.
 *
 * <p><b>Errors.</b> 400 for a malformed body, 415 for a kind without a schema.
 *
 * <p><b>Source.</b> {@code pkg/runtime/serializer/protobuf} in Kubernetes' apimachinery.
 */
public final class KubernetesProtobufReader {
  public static final String TYPE = "application/vnd.kubernetes.protobuf";
  private static final byte[] MAGIC = {'k', '8', 's', 0};
  private static final int MAX_DEPTH = 100;
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final DateTimeFormatter SECONDS = utc("uuuu-MM-dd'T'HH:mm:ss'Z'");
  private static final DateTimeFormatter MICROSECONDS = utc("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'");

  private KubernetesProtobufReader() {}

  /** Reads an object. The body has a magic number and an envelope that names the type. */
  public static ObjectNode read(byte[] body) {
    if (!Arrays.equals(body, 0, Math.min(MAGIC.length, body.length), MAGIC, 0, MAGIC.length)) {
      throw StatusException.badRequest("the body is not Kubernetes' protobuf: it does not begin"
          + " with 'k8s' and a zero byte");
    }
    try {
      return envelope(CodedInputStream.newInstance(body, MAGIC.length, body.length - MAGIC.length));
    } catch (IOException | DateTimeException e) {
      throw StatusException.badRequest("the body is not Kubernetes' protobuf: "
          + e.getMessage());
    }
  }

  private static ObjectNode envelope(CodedInputStream in) throws IOException {
    String apiVersion = "";
    String kind = "";
    byte[] raw = {};
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case 1 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED -> {
          var type = CodedInputStream.newInstance(in.readByteArray());
          for (int part = type.readTag(); part != 0; part = type.readTag()) {
            switch (WireFormat.getTagFieldNumber(part)) {
              case 1 -> apiVersion = type.readStringRequireUtf8();
              case 2 -> kind = type.readStringRequireUtf8();
              default -> type.skipField(part);
            }
          }
        }
        case 2 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED -> raw = in.readByteArray();
        default -> in.skipField(tag);
      }
    }
    int slash = apiVersion.indexOf('/');
    String version = apiVersion.substring(slash + 1);
    // Options have the version of the kind that they apply to.
    var message = kind.equals("DeleteOptions")
        ? ProtobufSchema.message("meta.v1.DeleteOptions")
        : ProtobufSchema.of(apiVersion.substring(0, Math.max(0, slash)), version, kind);
    var object = Json.object().put("apiVersion", apiVersion).put("kind", kind);
    String read = kind;
    object.setAll(message(message.orElseThrow(() -> noSchema(apiVersionOf(object), read)),
        CodedInputStream.newInstance(raw), 0));
    return object;
  }

  private static String apiVersionOf(ObjectNode object) {
    return object.path("apiVersion").stringValue("");
  }

  private static StatusException noSchema(String apiVersion, String kind) {
    return new StatusException(415, "UnsupportedMediaType", "a \"" + kind + "\" of \"" + apiVersion
        + "\" is not read in protobuf here: send JSON", Json.object());
  }

  private static ObjectNode message(Message message, CodedInputStream in, int depth)
      throws IOException {
    if (depth > MAX_DEPTH) {
      throw new InvalidProtocolBufferException("it is nested deeper than " + MAX_DEPTH + " levels");
    }
    var object = Json.object();
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      var field = message.byNumber().get(WireFormat.getTagFieldNumber(tag));
      if (field == null) {
        in.skipField(tag);
      } else {
        checkWireType(field, tag);
        add(field, in, object, depth + 1);
      }
    }
    return object;
  }

  private static void checkWireType(Field field, int tag) throws IOException {
    boolean varint = field.label() != Label.MAP && switch (field.type()) {
      case "bool", "int32", "int64" -> true;
      default -> false;
    };
    int expected = varint ? WireFormat.WIRETYPE_VARINT : WireFormat.WIRETYPE_LENGTH_DELIMITED;
    if (WireFormat.getTagWireType(tag) != expected) {
      throw new InvalidProtocolBufferException("the field " + field.name() + " has another type");
    }
  }

  private static void add(Field field, CodedInputStream in, ObjectNode object, int depth)
      throws IOException {
    switch (field.label()) {
      case MAP -> {
        var entry = CodedInputStream.newInstance(in.readByteArray());
        String key = "";
        JsonNode value = NODES.stringNode("");
        for (int tag = entry.readTag(); tag != 0; tag = entry.readTag()) {
          switch (WireFormat.getTagFieldNumber(tag)) {
            case 1 -> key = entry.readStringRequireUtf8();
            case 2 -> value = value(field.type(), entry, depth);
            default -> entry.skipField(tag);
          }
        }
        object.withObjectProperty(field.name()).set(key, value);
      }
      case REPEATED ->
        object.withArrayProperty(field.name()).add(value(field.type(), in, depth));
      case INLINE -> object.setAll((ObjectNode) value(field.type(), in, depth));
      case OPTIONAL -> object.set(field.name(), value(field.type(), in, depth));
      case PLAIN -> {
        var value = value(field.type(), in, depth);
        if (!isZero(value)) {
          object.set(field.name(), value);
        }
      }
    }
  }

  /** Whether a value is the zero value, which Go writes even for fields that are not set. */
  private static boolean isZero(JsonNode value) {
    return value.isNull() || value.isContainer() && value.isEmpty()
        || value.isString() && value.stringValue().isEmpty()
        || value.isIntegralNumber() && value.longValue() == 0
        || value.isBoolean() && !value.booleanValue();
  }

  private static JsonNode value(String type, CodedInputStream in, int depth) throws IOException {
    return switch (type) {
      case "string" -> NODES.stringNode(in.readStringRequireUtf8());
      case "bool" -> NODES.booleanNode(in.readBool());
      case "int32", "int64" -> number(in.readInt64());
      case "bytes" -> NODES.stringNode(NODES.binaryNode(in.readByteArray()).asString());
      default -> {
        var nested = CodedInputStream.newInstance(in.readByteArray());
        var message = ProtobufSchema.message(type);
        yield message.isPresent()
            ? message(message.get(), nested, depth)
            : special(type, nested);
      }
    };
  }

  private static DateTimeFormatter utc(String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ROOT).withZone(ZoneOffset.UTC);
  }

  /** A number node of the type that the JSON parser would choose. */
  private static JsonNode number(long value) {
    return value == (int) value ? NODES.numberNode((int) value) : NODES.numberNode(value);
  }

  /** Reads a type that has another form in JSON, such as a time. */
  private static JsonNode special(String type, CodedInputStream in) throws IOException {
    var numbers = new long[4];
    var texts = new byte[4][];
    Arrays.fill(texts, new byte[0]);
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      int number = Math.min(WireFormat.getTagFieldNumber(tag), 3);
      switch (WireFormat.getTagWireType(tag)) {
        case WireFormat.WIRETYPE_VARINT -> numbers[number] = in.readInt64();
        case WireFormat.WIRETYPE_LENGTH_DELIMITED -> texts[number] = in.readByteArray();
        default -> in.skipField(tag);
      }
    }
    return switch (type) {
      case "meta.v1.Time", "meta.v1.MicroTime" -> numbers[1] == 0 && numbers[2] == 0
          ? NODES.nullNode()
          : NODES.stringNode((type.equals("meta.v1.Time") ? SECONDS : MICROSECONDS)
              .format(Instant.ofEpochSecond(numbers[1], numbers[2])));
      case "intstr.IntOrString" -> numbers[1] == 0
          ? number(numbers[2])
          : NODES.stringNode(new String(texts[3], StandardCharsets.UTF_8));
      case "resource.Quantity" -> NODES.stringNode(new String(texts[1], StandardCharsets.UTF_8));
      default -> texts[1].length == 0 ? NODES.nullNode() : Json.MAPPER.readTree(texts[1]);
    };
  }
}
