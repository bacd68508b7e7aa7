package dev.activator.embedded.api.schema;

import dev.activator.embedded.api.schema.ProtobufSchema.Field;
import dev.activator.embedded.api.schema.ProtobufSchema.Label;
import dev.activator.embedded.api.schema.ProtobufSchema.Message;
import dev.activator.embedded.api.store.Kind;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/**
 * The shape of a value, which defines how it is merged. It corresponds to a type in Kubernetes'
 * structured-merge-diff.
 *
 * @param keys the keys that identify the items of a list
 * @param required whether typed clients always send the object, even an empty one
 * @param declared returns the shape of a field of the type; null for any other field
 * @param others the shape of list items and of undeclared fields
 * @param fallback the default value of an absent key
 */
public record MergeSchema(Merging merging, List<String> keys, boolean required,
    Function<String, @Nullable MergeSchema> declared, Supplier<MergeSchema> others,
    @Nullable JsonNode fallback) {
  /** The way of merging. {@code PLAIN} lists are atomic, and {@code PLAIN} objects are merged. */
  public enum Merging {
    PLAIN,
    ATOMIC,
    SET,
    KEYED
  }

  /** The shape of values without a type. */
  static final MergeSchema ANY = new MergeSchema(Merging.PLAIN, List.of(), false, _ -> null,
      () -> MergeSchema.ANY, null);
  private static final String METADATA = "meta.v1.ObjectMeta";

  public static MergeSchema of(Kind kind) {
    var message = ProtobufSchema.of(kind);
    return message.isPresent() ? of(message.get()) : ofJson(kind.schema()).withMetadata();
  }

  private MergeSchema withMetadata() {
    return new MergeSchema(merging, keys, required,
        name -> name.equals("metadata") ? ofType(METADATA) : declared.apply(name), others,
        fallback);
  }

  public boolean declares(String name) {
    return declared.apply(name) != null;
  }

  public MergeSchema field(String name) {
    var known = declared.apply(name);
    return known == null ? others.get() : known;
  }

  private static MergeSchema of(Message message) {
    return new MergeSchema(message.atomic() ? Merging.ATOMIC : Merging.PLAIN, List.of(), false,
        name -> {
          var field = message.field(name);
          return field == null ? null : of(field);
        }, () -> ANY, null);
  }

  private static MergeSchema of(Field field) {
    var value = ofType(field.type());
    boolean container = field.label() == Label.REPEATED || field.label() == Label.MAP;
    var merging = merging(field.merging(), field.keys());
    return container
        ? new MergeSchema(merging, field.keys(), false, _ -> null, () -> value, null)
        : new MergeSchema(value.merging(), List.of(), field.label() == Label.PLAIN,
            value.declared(),
            value.others(), field.fallback().isEmpty() ? null : new StringNode(field.fallback()));
  }

  private static MergeSchema ofType(String type) {
    return ProtobufSchema.message(type).map(MergeSchema::of).orElse(ANY);
  }

  /** @param schema an OpenAPI schema */
  public static MergeSchema ofJson(JsonNode schema) {
    var keys = schema.path("x-kubernetes-list-map-keys").valueStream().map(JsonNode::asString)
        .toList();
    var properties = schema.path("properties");
    var others = schema.path(schema.has("items") ? "items" : "additionalProperties");
    return new MergeSchema(
        merging(schema.path("x-kubernetes-list-type")
            .asString(schema.path("x-kubernetes-map-type").asString("")), keys),
        keys, false, name -> properties.has(name) ? ofJson(properties.path(name)) : null,
        () -> others.isObject() ? ofJson(others) : ANY, schema.get("default"));
  }

  private static Merging merging(String word, List<String> keys) {
    return switch (word) {
      case "set" -> Merging.SET;
      case "atomic" -> Merging.ATOMIC;
      default -> keys.isEmpty() ? Merging.PLAIN : Merging.KEYED;
    };
  }
}
