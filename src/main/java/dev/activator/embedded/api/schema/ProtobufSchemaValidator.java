package dev.activator.embedded.api.schema;

import dev.activator.config.Quantity;
import dev.activator.config.ColdStartRulesReader;
import dev.activator.config.RevisionAnnotations;
import dev.activator.config.SpellingSuggester;
import dev.activator.embedded.api.schema.ProtobufSchema.Field;
import dev.activator.embedded.api.schema.ProtobufSchema.Label;
import dev.activator.embedded.api.schema.ProtobufSchema.Message;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.StatusException.Cause;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Compares an object with the schema of its kind. It finds wrong values, unknown fields, and fields
 * that have no effect in embedded mode.
 *
 * <p>It has the schemas of the built-in and Knative kinds, from {@code kubernetes.proto} and
 * {@code knative.proto}. If a kind has no schema there, only the metadata is checked. Objects of a
 * CustomResourceDefinition are compared with its schema by
 * {@link dev.activator.embedded.api.store.CustomResourceSchema}.
 */
public final class ProtobufSchemaValidator {
  private static final int MAX_VALUE_LENGTH = 60;
  private static final int MAX_NAME_LENGTH = 200;
  /** The limit of the problems of each sort. */
  private static final int MAX_PROBLEMS = 100;
  private static final String SCALED_SERVICE = "ScaledService";
  private static final String METADATA = "meta.v1.ObjectMeta";
  private static final String ANNOTATIONS = "metadata.annotations";
  private static final String CONTAINERS = "spec.template.spec.containers";
  private static final Set<String> TYPE = Set.of("apiVersion", "kind");
  private static final Pattern INDEX = Pattern.compile("\\[\\d+]");
  private static final String SECOND = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d";
  private static final String ZONE = "(Z|[+-]\\d\\d:\\d\\d)";
  private static final Pattern TIME = Pattern.compile(SECOND + "(\\.\\d+)?" + ZONE);
  /** Go's clients read no other number of decimals. */
  private static final Pattern MICRO_TIME = Pattern.compile(SECOND + "\\.\\d{6}" + ZONE);

  private final Kind kind;
  private final List<Cause> wrong = new ArrayList<>();
  private final List<String> unknown = new ArrayList<>();
  private final List<String> ignored = new ArrayList<>();

  /**
   * @param wrong values with a wrong type
   * @param unknown fields that the schema does not have
   * @param ignored fields that have no effect here, and the reason
   */
  public record Findings(List<Cause> wrong, List<String> unknown, List<String> ignored) {}

  private ProtobufSchemaValidator(Kind kind) {
    this.kind = kind;
  }

  /** Removes unknown fields from the object. */
  public static Findings of(Kind kind, ObjectNode object) {
    var check = new ProtobufSchemaValidator(kind);
    var schema = ProtobufSchema.of(kind);
    boolean isListed = SupportedFields.isListed(kind);
    if (schema.isPresent()) {
      check.object(schema.get(), object, "", !isListed);
    } else {
      check.value(METADATA, object.path("metadata"), "metadata", true);
    }
    check.annotations(object);
    return new Findings(List.copyOf(check.wrong), List.copyOf(check.unknown),
        List.copyOf(check.ignored));
  }

  /** @param isDecided whether it is already decided if the fields have an effect */
  private void object(Message message, ObjectNode object, String path, boolean isDecided) {
    object.properties().removeIf(entry -> {
      String name = entry.getKey();
      String at = path.isEmpty() ? name : path + "." + name;
      var field = message.field(name);
      if (field != null) {
        field(field, entry.getValue(), at, isDecided);
        return false;
      }
      boolean isUnknown = !(path.isEmpty() && TYPE.contains(name));
      if (isUnknown) {
        add(unknown, unknown(shortened(at, MAX_NAME_LENGTH), name, message.names()));
      }
      return isUnknown;
    });
  }

  private static String unknown(String path, String name, Collection<String> names) {
    var nearest = SpellingSuggester.nearest(name, names);
    return "unknown field \"" + path + '"'
        + (nearest == null ? "" : ", did you mean \"" + nearest + "\"?");
  }

  private void field(Field field, JsonNode value, String path, boolean isDecided) {
    boolean known = isDecided || decide(value, path);
    switch (field.label()) {
      case Label.REPEATED -> {
        if (expect(value.isArray(), value, path, "a list")) {
          for (int i = 0; i < value.size(); i++) {
            boolean isUnused = i > 0 && !known && path.equals(CONTAINERS);
            if (isUnused) {
              add(ignored, path + "[" + i + "]: ignored in embedded mode: only the first container"
                  + " runs");
            }
            value(field.type(), value.get(i), path + "[" + i + "]", known || isUnused);
          }
        }
      }
      case Label.MAP -> {
        if (expect(value.isObject(), value, path, "an object")) {
          value.properties().forEach(
              entry -> value(field.type(), entry.getValue(), path + "." + entry.getKey(), known));
        }
      }
      default -> value(field.type(), value, path, known);
    }
  }

  /**
   * Decides whether a field has an effect. Returns whether the decision includes all fields below.
   */
  private boolean decide(JsonNode value, String path) {
    String pattern = INDEX.matcher(path).replaceAll("[]");
    boolean leads = SupportedFields.leadsToRow(kind, pattern);
    if (leads && SupportedFields.row(kind, pattern).isEmpty()) {
      return false;
    }
    var row = SupportedFields.nearest(kind, pattern);
    if (!row.works() && !SupportedFields.isAsHere(pattern, value)) {
      add(ignored, path + ": ignored in embedded mode: " + row.reason());
    }
    return !leads;
  }

  private void value(String type, JsonNode value, String path, boolean isDecided) {
    if (value.isNull() || value.isMissingNode()) {
      return;
    }
    switch (type) {
      case "any" -> {
      }
      case "string" -> expect(value.isString(), value, path, quoted(value, path));
      case "bool" -> expect(value.isBoolean(), value, path, "true or false");
      case "int32", "int64" ->
        expect(value.isIntegralNumber(), value, path, "a whole number");
      case "bytes" -> {
        if (expect(value.isString(), value, path, "base64 in a string")) {
          checkBase64(value.stringValue(), path);
        }
      }
      case "resource.Quantity" -> expect(value.isNumber()
          || value.isString() && Quantity.isOne(value.stringValue()), value, path,
          "a quantity, such as 500m or 1Gi");
      case "intstr.IntOrString" -> expect(value.isIntegralNumber() || value.isString(), value, path,
          "a whole number or a string");
      case "meta.v1.Time" -> expect(TIME.matcher(value.asString("")).matches(), value, path,
          "a time, such as 2026-01-31T10:00:00Z");
      case "meta.v1.MicroTime" -> expect(MICRO_TIME.matcher(value.asString("")).matches(), value,
          path, "a time with six decimals, such as 2026-01-31T10:00:00.000000Z");
      default -> {
        if (expect(value.isObject(), value, path, "an object")) {
          ProtobufSchema.message(type)
              .ifPresent(message -> object(message, (ObjectNode) value, path, isDecided));
        }
      }
    }
  }

  private void checkBase64(String text, String path) {
    var digits = text.replaceAll("[\r\n]", "");
    try {
      // Java's decoder also takes a text without its padding.
      if (digits.length() % 4 != 0) {
        throw new IllegalArgumentException("no padding");
      }
      Base64.getDecoder().decode(digits);
    } catch (IllegalArgumentException e) {
      throw StatusException.badRequest("%s in version \"%s\" cannot be handled as a %s: illegal"
          .formatted(kind.kind(), kind.version(), kind.kind()) + " base64 data in " + path
          + "; stringData takes plain text");
    }
  }

  private String quoted(JsonNode value, String path) {
    return value.isValueNode() && !isSecret(path)
        ? "a string; quote it: \"" + value.asString() + '"'
        : "a string";
  }

  private boolean expect(boolean right, JsonNode value, String path, String expected) {
    if (!right && !value.isNull()) {
      String shown = isSecret(path)
          ? "(secret)"
          : shortened(value.toString(), MAX_VALUE_LENGTH);
      add(wrong, new Cause("FieldValueInvalid", path,
          "Invalid value: " + shown + ": must be " + expected));
    }
    return right;
  }

  /**
   * Whether a field belongs to a Secret. Its value must not appear in a message, since messages are
   * logged.
   */
  private boolean isSecret(String path) {
    return kind.equals(BuiltInKinds.SECRET) && path.matches("(data|stringData)\\..*");
  }

  private static String shortened(String text, int longest) {
    return text.length() > longest ? text.substring(0, longest) + "..." : text;
  }

  private static <T> void add(List<T> list, T problem) {
    if (list.size() < MAX_PROBLEMS) {
      list.add(problem);
    }
  }

  private void annotations(ObjectNode object) {
    if (kind.kind().equals(SCALED_SERVICE)) {
      var own = texts(object.at("/metadata/annotations"));
      own.forEach((name, value) -> RevisionAnnotations.problemOfScaledService(name, value)
          .ifPresent(text -> add(ignored, ANNOTATIONS + "." + name + ": " + text)));
      rules(own, "metadata");
      return;
    }
    if (!SupportedFields.PROGRAMS.contains(kind)) {
      return;
    }
    boolean service = kind.equals(BuiltInKinds.KNATIVE_SERVICE);
    String template = "spec.template." + ANNOTATIONS;
    object.at("/metadata/annotations").properties().forEach(entry -> {
      String name = entry.getKey();
      if (name.startsWith(SupportedAnnotations.AUTOSCALING)) {
        misplaced(name, service, template);
      }
    });
    if (service) {
      ofService(object.path("metadata"), "annotations");
      ofService(object.path("metadata"), "labels");
    }
    var own = texts(object.at("/spec/template/metadata/annotations"));
    own.forEach((name, value) -> SupportedAnnotations.warning(name, value)
        .ifPresent(text -> add(ignored, template + "." + name + ": " + text)));
    rules(own, "spec.template.metadata");
  }

  private void ofService(JsonNode metadata, String field) {
    texts(metadata.path(field))
        .forEach((name, value) -> SupportedAnnotations.warningOfService(name, value)
            .ifPresent(text -> add(ignored, "metadata." + field + "." + name + ": " + text)));
  }

  private void rules(Map<String, String> annotations, String where) {
    var rules = ColdStartRulesReader.read(Map.of(), annotations);
    if (rules != null) {
      rules.problems()
          .forEach(problem -> add(ignored, where + ", " + problem + "; it is ignored"));
    }
  }

  private static Map<String, String> texts(JsonNode annotations) {
    var texts = new TreeMap<String, String>();
    annotations.properties()
        .forEach(entry -> texts.put(entry.getKey(), entry.getValue().asString("")));
    return texts;
  }

  /**
   * Reports an autoscaling annotation that is not on the template. Knative also refuses it on a
   * Service.
   */
  private void misplaced(String name, boolean service, String template) {
    String where = ANNOTATIONS + "." + name;
    if (service) {
      add(wrong, new Cause("FieldValueInvalid", where,
          "Invalid value: autoscaling annotations must be put under " + template + " to work"));
    } else {
      add(ignored, where + ": ignored in embedded mode: it belongs in " + template);
    }
  }
}
