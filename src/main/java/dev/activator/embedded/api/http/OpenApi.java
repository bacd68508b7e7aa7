package dev.activator.embedded.api.http;

import dev.activator.embedded.api.Json;
import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.Kinds;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * As much of OpenAPI as kubectl needs before it applies anything: that a patch of each kind takes
 * {@code fieldValidation}. There are no schemas: objects may have any field.
 */
final class OpenApi {
  private static final String ROOT = "/openapi/v3";

  private final Map<String, ObjectNode> documents = new HashMap<>();

  OpenApi() {
    var index = Json.object();
    var paths = index.putObject("paths");
    for (var kind : Kinds.all()) {
      String version = Discovery.path(kind).substring(1);
      String url = ROOT + "/" + version;
      paths.putObject(version).put("serverRelativeURL", url + "?hash=1");
      documents.computeIfAbsent(url, _ -> document()).withObjectProperty("paths")
          .set(itemPath(kind), item(kind));
    }
    documents.put(ROOT, index);
  }

  Optional<ObjectNode> at(String path) {
    return Optional.ofNullable(documents.get(path));
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
