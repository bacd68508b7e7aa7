package dev.activator.embedded.api.store;

import dev.activator.config.SpellingSuggester;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The schema of a CustomResourceDefinition. It removes unknown fields, sets defaults, and refuses
 * invalid values.
 *
 * <p><b>Source.</b> {@code apiserver/schema} and {@code apiserver/validation} in Kubernetes'
 * apiextensions-apiserver, as far as our own definition uses them.
 */
public final class CustomResourceSchema {
  private static final int MAX_NAME_LENGTH = 200;
  /** The limit of unknown fields that are named. */
  private static final int MAX_REPORTED = 100;
  private static final String RULES = "x-kubernetes-validations";
  private static final String INT_OR_STRING = "x-kubernetes-int-or-string";

  private final JsonNode schema;
  private final Map<String, CelRule> rules = new HashMap<>();

  /** @param definition a definition with one version */
  public CustomResourceSchema(JsonNode definition) {
    this.schema = definition.at("/spec/versions/0/schema/openAPIV3Schema");
    schema.findValues(RULES).forEach(all -> all
        .forEach(one -> rules.computeIfAbsent(one.path("rule").asString(""), CelRule::new)));
  }

  /**
   * Returns the object with defaults and without unknown fields.
   *
   * @throws StatusException if a value is invalid; it names the field
   */
  public ObjectNode admit(ObjectNode object, @Nullable ObjectNode before) {
    complete(schema, object);
    check("", schema, object, before);
    return object;
  }

  public List<String> unknown(ObjectNode object) {
    var found = new ArrayList<String>();
    unknown("", schema, object, found);
    return found;
  }

  private static void unknown(String path, JsonNode schema, JsonNode value, List<String> found) {
    var known = schema.path("properties");
    value.properties().forEach(field -> {
      var name = join(path, field.getKey());
      if (known.has(field.getKey())) {
        unknown(name, known.path(field.getKey()), field.getValue(), found);
      } else if (!known.isEmpty() && found.size() < MAX_REPORTED) {
        var nearest = SpellingSuggester.nearest(field.getKey(), known.propertyNames());
        found.add("unknown field \"" + name.substring(0, Math.min(MAX_NAME_LENGTH, name.length()))
            + '"' + (nearest == null ? "" : ", did you mean \"" + nearest + "\"?"));
      }
    });
    for (int i = 0; value.isArray() && i < value.size(); i++) {
      unknown(path + "[" + i + "]", schema.path("items"), value.get(i), found);
    }
  }

  private static void complete(JsonNode schema, JsonNode value) {
    if (value instanceof ObjectNode object && schema.has("properties")) {
      var known = schema.path("properties");
      object.properties()
          .removeIf(field -> !known.has(field.getKey()) || field.getValue().isNull());
      known.properties().forEach(field -> {
        var fallback = field.getValue().get("default");
        if (fallback != null && !object.has(field.getKey())) {
          object.set(field.getKey(), fallback.deepCopy());
        }
        complete(field.getValue(), object.path(field.getKey()));
      });
    } else if (value instanceof ArrayNode items) {
      items.forEach(item -> complete(schema.path("items"), item));
    }
  }

  private void check(String path, JsonNode schema, JsonNode value, @Nullable JsonNode before) {
    checkType(path, schema, value);
    checkBounds(path, schema, value);
    for (var name : schema.path("required")) {
      if (!value.has(name.asString(""))) {
        throw StatusException.required(join(path, name.asString("")), "");
      }
    }
    schema.path("properties").properties().forEach(field -> {
      if (value.has(field.getKey())) {
        check(join(path, field.getKey()), field.getValue(), value.path(field.getKey()),
            before == null ? null : before.get(field.getKey()));
      }
    });
    for (int i = 0; value.isArray() && i < value.size(); i++) {
      check(path + "[" + i + "]", schema.path("items"), value.get(i), null);
    }
    for (var rule : schema.path(RULES)) {
      if (!Objects.requireNonNull(rules.get(rule.path("rule").asString(""))).allows(value,
          before)) {
        throw invalid(path, value, rule.path("message").asString(""));
      }
    }
  }

  private static void checkType(String path, JsonNode schema, JsonNode value) {
    boolean fits = schema.path(INT_OR_STRING).asBoolean(false)
        ? value.isInt() || value.isString()
        : switch (schema.path("type").asString("")) {
          case "object" -> value.isObject();
          case "array" -> value.isArray();
          case "string" -> value.isString();
          case "integer" -> value.isIntegralNumber();
          case "boolean" -> value.isBoolean();
          default -> true;
        };
    if (!fits) {
      var found = value.getNodeType().name().toLowerCase(Locale.ROOT);
      throw StatusException.invalid(path, "Invalid value: \"" + found + "\": " + path
          + " in body must be of type " + schema.path("type").asString("integer,string")
          + ": \"" + found + "\"");
    }
  }

  private static void checkBounds(String path, JsonNode schema, JsonNode value) {
    refuse(value.isNumber() && schema.has("minimum")
        && value.asLong() < schema.path("minimum").asLong(), path, value,
        "should be greater than or equal to " + schema.path("minimum"));
    refuse(value.isNumber()
        && value.asLong() > schema.path("maximum").asLong(Integer.MAX_VALUE), path, value,
        "should be less than or equal to " + schema.path("maximum").asLong(Integer.MAX_VALUE));
    refuse(value.isString() && value.asString("").length() < schema.path("minLength").asInt(0),
        path, value, "should be at least " + schema.path("minLength") + " chars long");
    if (value.isString()
        && value.asString("").length() > schema.path("maxLength").asInt(Integer.MAX_VALUE)) {
      throw StatusException.invalid(path,
          "Too long: may not be more than " + schema.path("maxLength") + " bytes");
    }
    refuse(value.isArray() && value.size() > schema.path("maxItems").asInt(Integer.MAX_VALUE), path,
        value, "should have at most " + schema.path("maxItems") + " items");
    refuse(value.isArray() && value.size() < schema.path("minItems").asInt(0), path, value,
        "should have at least " + schema.path("minItems") + " items");
    refuse(value.isObject() && value.size() < schema.path("minProperties").asInt(0), path, value,
        "should have at least " + schema.path("minProperties") + " properties");
    if (schema.has("enum") && schema.path("enum").valueStream().noneMatch(value::equals)) {
      throw StatusException.invalid(path, "Unsupported value: " + value + ": supported values: "
          + schema.path("enum").valueStream().map(JsonNode::toString)
              .collect(Collectors.joining(", ")));
    }
    if (schema.path("x-kubernetes-list-type").asString("").equals("set")) {
      var seen = new TreeSet<String>();
      for (int i = 0; i < value.size(); i++) {
        if (!seen.add(value.get(i).toString())) {
          throw StatusException.invalid(path + "[" + i + "]", "Duplicate value: " + value.get(i));
        }
      }
    }
  }

  private static void refuse(boolean broken, String path, JsonNode value, String rule) {
    if (broken) {
      throw invalid(path, value, path + " in body " + rule);
    }
  }

  private static StatusException invalid(String path, JsonNode value, String message) {
    return StatusException.invalid(path,
        "Invalid value: " + (value.isContainer() ? "" : value + ": ") + message);
  }

  private static String join(String path, String field) {
    return path.isEmpty() ? field : path + "." + field;
  }
}
