package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.KindRegistry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * As much of OpenAPI as kubectl needs before it applies anything: that a patch of each kind takes
 * {@code fieldValidation}. There are no schemas: objects may have any field.
 */
public final class OpenApi {
  private static final String ROOT = "/openapi/v3";

  private final KindRegistry kinds;
  private volatile Documents documents;

  /** The documents for these kinds. */
  private record Documents(List<Kind> kinds, Map<String, ObjectNode> byPath) {}

  public OpenApi(KindRegistry kinds) {
    this.kinds = kinds;
    this.documents = documents(kinds.all());
  }

  public Optional<ObjectNode> at(String path) {
    var now = kinds.all();
    if (documents.kinds() != now) {
      documents = documents(now);
    }
    return Optional.ofNullable(documents.byPath().get(path));
  }

  private static Documents documents(List<Kind> kinds) {
    var documents = new LinkedHashMap<String, ObjectNode>();
    for (var kind : kinds) {
      documents.computeIfAbsent(ROOT + Discovery.path(kind), _ -> document())
          .withObjectProperty("paths").set(itemPath(kind), item(kind));
    }
    var index = Json.object();
    var paths = index.putObject("paths");
    documents.forEach((path, document) -> paths.putObject(path.substring(ROOT.length() + 1))
        .put("serverRelativeURL", path + "?hash=" + Integer.toHexString(document.hashCode())));
    documents.put(ROOT, index);
    return new Documents(kinds, documents);
  }

  private static ObjectNode document() {
    var document = Json.object().put("openapi", "3.0.0");
    document.putObject("info").put("title", "activator").put("version", "v1.36.2");
    document.putObject("paths");
    document.putObject("components").putObject("schemas");
    return document;
  }

  private static String itemPath(Kind kind) {
    String within = kind.namespaced() ? "/namespaces/{namespace}/" : "/";
    return Discovery.path(kind) + within + kind.plural() + "/{name}";
  }

  private static ObjectNode item(Kind kind) {
    var item = Json.object();
    var patch = item.putObject("patch");
    var parameters = patch.putArray("parameters");
    for (var name : new String[]{"dryRun", "fieldManager", "fieldValidation", "force"}) {
      parameters.addObject().put("name", name).put("in", "query").putObject("schema").put("type",
          "string");
    }
    patch.putObject("responses");
    patch.putObject("x-kubernetes-group-version-kind").put("group", kind.group())
        .put("version", kind.version()).put("kind", kind.kind());
    return item;
  }
}
