package dev.activator.embedded.api.store;

import dev.activator.embedded.api.store.Kind.Names;
import dev.activator.embedded.api.store.Kind.PrinterColumn;
import dev.activator.embedded.api.store.Kind.Trait;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Converts a CustomResourceDefinition to a {@link Kind}. A kind is served only in its storage
 * version, and its objects are not checked against the schema.
 *
 * <p><b>Source.</b> {@code apiextensions/v1/types.go} and {@code validation/validation.go} in
 * Kubernetes' apiextensions-apiserver.
 */
final class CrdReader {
  private static final Pattern REPLICAS = Pattern.compile("\\.spec\\.(\\w+)");

  private static final int MAX_PATH_LENGTH = 500;

  private CrdReader() {}

  static Kind defined(JsonNode definition) {
    var spec = definition.path("spec");
    String group = text(spec, "group", "spec.group");
    var version = stored(spec.path("versions"));
    var kind = new Kind(group, text(version, "name", "spec.versions[].name"),
        names(spec.path("names")), traits(spec, version), columns(version),
        replicasField(version), version.at("/schema/openAPIV3Schema").deepCopy());
    if (!ObjectMeta.name(definition).equals(kind.resource())) {
      throw StatusException.invalid("metadata.name",
          "Invalid value: \"" + ObjectMeta.name(definition)
              + "\": must be spec.names.plural+\".\"+spec.group");
    }
    return kind;
  }

  static ObjectNode established(ObjectNode definition, Kind kind, String now) {
    var status = definition.putObject("status");
    var conditions = status.putArray("conditions");
    condition(conditions.addObject(), "NamesAccepted", "NoConflicts", "no conflicts found", now);
    condition(conditions.addObject(), "Established", "InitialNamesAccepted",
        "the initial names have been accepted", now);
    status.set("acceptedNames", definition.at("/spec/names").deepCopy());
    status.putArray("storedVersions").add(kind.version());
    return definition;
  }

  private static void condition(ObjectNode condition, String type, String reason, String message,
      String now) {
    condition.put("type", type).put("status", "True").put("lastTransitionTime", now)
        .put("reason", reason).put("message", message);
  }

  private static JsonNode stored(JsonNode versions) {
    var stored = versions.valueStream().filter(version -> version.path("storage").asBoolean(false))
        .toList();
    if (stored.size() != 1) {
      throw StatusException.invalid("spec.versions",
          "Invalid value: must have exactly one version marked as storage version");
    }
    return stored.getFirst();
  }

  private static Names names(JsonNode names) {
    String kind = text(names, "kind", "spec.names.kind");
    String singular = names.path("singular").stringValue("");
    return new Names(kind, text(names, "plural", "spec.names.plural"),
        singular.isEmpty() ? kind.toLowerCase(Locale.ROOT) : singular,
        texts(names.path("shortNames")), texts(names.path("categories")));
  }

  private static Set<Trait> traits(JsonNode spec, JsonNode version) {
    var traits = EnumSet.of(Trait.GENERATION, Trait.VERSION_REQUIRED);
    switch (text(spec, "scope", "spec.scope")) {
      case "Cluster" -> traits.add(Trait.CLUSTER_SCOPED);
      case "Namespaced" -> {
      }
      default -> throw StatusException.invalid("spec.scope",
          "Unsupported value: supported values: \"Cluster\", \"Namespaced\"");
    }
    if (version.path("subresources").has("status")) {
      traits.add(Trait.STATUS);
    }
    if (!replicasField(version).isEmpty()) {
      traits.add(Trait.SCALE);
    }
    return Set.copyOf(traits);
  }

  /** The field of the spec with the replicas; empty if there is no scale subresource. */
  private static String replicasField(JsonNode version) {
    var path = REPLICAS
        .matcher(version.at("/subresources/scale/specReplicasPath").stringValue(""));
    return path.matches() ? path.group(1) : "";
  }

  private static List<PrinterColumn> columns(JsonNode version) {
    var columns = new ArrayList<PrinterColumn>();
    for (var column : version.path("additionalPrinterColumns")) {
      String path = column.path("jsonPath").stringValue("");
      if (path.length() > MAX_PATH_LENGTH) {
        throw StatusException.invalid("spec.versions[].additionalPrinterColumns[].jsonPath",
            "Invalid value: must be no more than " + MAX_PATH_LENGTH + " characters");
      }
      columns.add(new PrinterColumn(column.path("name").stringValue(""),
          column.path("type").stringValue("string"), path,
          column.path("priority").intValue(0)));
    }
    return List.copyOf(columns);
  }

  private static List<String> texts(JsonNode array) {
    return array.valueStream().map(text -> text.asString("")).toList();
  }

  private static String text(JsonNode node, String field, String path) {
    String text = node.path(field).stringValue("");
    if (text.isEmpty()) {
      throw StatusException.required(path, "");
    }
    return text;
  }
}
