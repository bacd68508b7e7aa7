package dev.activator.embedded.api.schema;

import dev.activator.embedded.api.schema.ProtobufSchema.Field;
import dev.activator.embedded.api.schema.ProtobufSchema.Label;
import dev.activator.embedded.api.schema.ProtobufSchema.Message;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes the OpenAPI schemas of kinds, for {@code kubectl explain}. Schemas are not cached, because such requests are rare.
 */
public final class OpenApi {
  private static final String REFERENCE = "#/components/schemas/";
  private static final String PREFIX = "io.k8s.api.";
  private static final String METADATA = "meta.v1.ObjectMeta";

  private final Map<String, String> descriptions;
  private final ObjectNode schemas = Json.object();

  private OpenApi(Map<String, String> descriptions) {
    this.descriptions = descriptions;
  }

  /** The schemas of kinds by name, and the schemas that they refer to. */
  public static ObjectNode schemas(List<Kind> kinds) {
    var openApi = new OpenApi(descriptions());
    kinds.forEach(openApi::add);
    return openApi.schemas;
  }

  private static Map<String, String> descriptions() {
    var descriptions = new HashMap<String, String>();
    try (InputStream text = Objects
        .requireNonNull(OpenApi.class.getResourceAsStream("/embedded/descriptions.tsv"))) {
      new String(text.readAllBytes(), StandardCharsets.UTF_8).lines()
          .map(line -> line.split("\t", 2)).filter(columns -> columns.length == 2)
          .forEach(columns -> descriptions.put(columns[0], columns[1]));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return descriptions;
  }

  private void add(Kind kind) {
    var schema = ProtobufSchema.of(kind)
        .map(message -> object(ProtobufSchema.nameOf(kind), message))
        .orElseGet(() -> ofDefinition(kind));
    var properties = schema.withObjectProperty("properties");
    properties.putObject("apiVersion").put("type", "string").put("description",
        "APIVersion defines the versioned schema of this representation of an object.");
    properties.putObject("kind").put("type", "string").put("description",
        "Kind is a string value representing the REST resource this object represents.");
    schema.putArray("x-kubernetes-group-version-kind").addObject().put("group", kind.group())
        .put("version", kind.version()).put("kind", kind.kind());
    schemas.set(PREFIX + ProtobufSchema.nameOf(kind), schema);
  }

  /**
   * The schema of a CustomResourceDefinition's kind. If there is none, it has only the fields that
   * all objects have.
   */
  private ObjectNode ofDefinition(Kind kind) {
    var schema = kind.schema() instanceof ObjectNode own ? own.deepCopy() : Json.object();
    schema.put("type", "object").withObjectProperty("properties")
        .set("metadata", reference(METADATA));
    if (!kind.schema().isObject()) {
      List.of("spec", "status").forEach(name -> schema.withObjectProperty("properties")
          .set(name, value("any")));
    }
    return schema;
  }

  private ObjectNode object(String type, Message message) {
    var schema = described(type).put("type", "object");
    var properties = schema.putObject("properties");
    message.byName().forEach((name, field) -> properties.set(name,
        property(field.owner() + "." + name, field)));
    if (message.atomic()) {
      schema.put("x-kubernetes-map-type", "atomic");
    }
    return schema;
  }

  private ObjectNode property(String path, Field field) {
    var property = described(descriptions.containsKey(path) ? path : field.type());
    switch (field.label()) {
      case Label.REPEATED -> {
        property.put("type", "array").set("items", value(field.type()));
        property.put("x-kubernetes-list-type",
            field.keys().isEmpty()
                ? field.merging().isEmpty() ? "atomic" : field.merging()
                : "map");
        var keys = Json.MAPPER.createArrayNode();
        field.keys().forEach(keys::add);
        if (!keys.isEmpty()) {
          property.set("x-kubernetes-list-map-keys", keys);
        }
      }
      case Label.MAP -> property.put("type", "object").set("additionalProperties",
          value(field.type()));
      default -> {
        var value = value(field.type());
        if (value.has("$ref")) {
          property.putArray("allOf").add(value);
        } else {
          property.setAll(value);
        }
        if (!field.fallback().isEmpty()) {
          property.put("default", field.fallback());
        }
      }
    }
    return property;
  }

  private ObjectNode value(String type) {
    return switch (type) {
      case "any" -> Json.object().put("type", "object")
          .put("x-kubernetes-preserve-unknown-fields", true);
      case "string", "resource.Quantity" -> Json.object().put("type", "string");
      case "bool" -> Json.object().put("type", "boolean");
      case "int32", "int64" -> Json.object().put("type", "integer").put("format", type);
      case "bytes" -> Json.object().put("type", "string").put("format", "byte");
      case "meta.v1.Time", "meta.v1.MicroTime" ->
        Json.object().put("type", "string").put("format", "date-time");
      case "intstr.IntOrString" -> Json.object().put("type", "string").put("format",
          "int-or-string");
      default -> reference(type);
    };
  }

  private ObjectNode reference(String type) {
    var message = ProtobufSchema.message(type);
    if (message.isEmpty()) {
      return Json.object().put("type", "object");
    }
    String name = PREFIX + type;
    if (!schemas.has(name)) {
      // An empty schema is added first, because a type may contain itself.
      schemas.putObject(name);
      schemas.set(name, object(type, message.get()));
    }
    return Json.object().put("$ref", REFERENCE + name);
  }

  private ObjectNode described(String path) {
    var description = descriptions.get(path);
    return description == null ? Json.object() : Json.object().put("description", description);
  }
}
