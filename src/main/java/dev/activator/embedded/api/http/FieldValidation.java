package dev.activator.embedded.api.http;

import dev.activator.embedded.api.schema.ProtobufSchemaValidator;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.StatusException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Checks a written object against its schema, as the parameter {@code fieldValidation} requests. It
 * collects warnings for the response.
 *
 * <p><b>Source.</b> {@code endpoints/handlers/create.go} in Kubernetes' apiserver.
 */
final class FieldValidation {
  private enum Mode {
    IGNORE,
    WARN,
    STRICT
  }

  private static final List<String> MODES = List.of("Ignore", "Strict", "Warn");

  private final Mode mode;
  private final ApiStore store;
  /** An apply is checked before and after it is merged, when it has none left. */
  private final Set<String> unknown = new LinkedHashSet<>();
  private List<String> warnings = List.of();

  private FieldValidation(Mode mode, ApiStore store) {
    this.mode = mode;
    this.store = store;
  }

  static FieldValidation of(QueryParameters query, String options, ApiStore store) {
    String requested = query.text("fieldValidation");
    if (!requested.isEmpty() && !MODES.contains(requested)) {
      throw StatusErrors.unsupported(options, "fieldValidation", requested, MODES);
    }
    return new FieldValidation(requested.isEmpty()
        ? Mode.WARN
        : Mode.valueOf(requested.toUpperCase(Locale.ROOT)), store);
  }

  List<String> warnings() {
    return warnings;
  }

  /**
   * Returns the same object without unknown fields, or refuses it. There are warnings about fields
   * without effect if the object is new or its spec changes.
   */
  ObjectNode checked(Kind kind, ObjectNode object, @Nullable ObjectNode stored) {
    if (!isOf(kind, object)) {
      // The store refuses such an object.
      return object;
    }
    var findings = ProtobufSchemaValidator.of(kind, object);
    if (!findings.wrong().isEmpty()) {
      throw StatusException.invalid(findings.wrong()).naming(kind, ObjectMeta.name(object));
    }
    unknown.addAll(findings.unknown());
    unknown.addAll(store.unknownFields(kind, object));
    if (mode == Mode.STRICT && !unknown.isEmpty()) {
      throw StatusException.badRequest(
          "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s"
              .formatted(kind.kind(), kind.version(), kind.kind(), String.join(", ", unknown)));
    }
    var reported = new ArrayList<>(mode == Mode.IGNORE ? Set.of() : unknown);
    if (stored == null || !Json.same(stored.path("spec"), object.path("spec"))) {
      reported.addAll(ignored(kind, findings, stored));
    }
    warnings = List.copyOf(reported);
    return object;
  }

  private static List<String> ignored(Kind kind, ProtobufSchemaValidator.Findings findings,
      @Nullable ObjectNode stored) {
    var maker = stored == null || !kind.equals(BuiltInKinds.POD)
        ? MissingNode.getInstance()
        : stored.at("/metadata/ownerReferences/0");
    return maker.isMissingNode()
        ? findings.ignored()
        : List.of("spec: ignored in embedded mode: the process of the Pod runs already; change the"
            + " template of what made it, " + maker.path("kind").asString("") + " "
            + maker.path("name").asString(""));
  }

  private static boolean isOf(Kind kind, ObjectNode object) {
    return isUnsetOr(kind.kind(), object.path("kind"))
        && isUnsetOr(kind.apiVersion(), object.path("apiVersion"));
  }

  private static boolean isUnsetOr(String expected, JsonNode value) {
    return value.isMissingNode() || value.isNull() || value.asString("").isEmpty()
        || value.stringValue("").equals(expected);
  }
}
