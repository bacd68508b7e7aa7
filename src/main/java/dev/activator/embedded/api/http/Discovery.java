package dev.activator.embedded.api.http;

import dev.activator.embedded.api.Json;
import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.Kind.Trait;
import dev.activator.embedded.api.Kinds;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The documents that tell a client which kinds there are. They never change. */
final class Discovery {
  private static final List<String> VERBS = List.of("create", "delete", "deletecollection", "get",
      "list", "patch", "update", "watch");
  private static final List<String> SUBRESOURCE_VERBS = List.of("get", "patch", "update");

  private final Map<String, ObjectNode> documents = new LinkedHashMap<>();

  Discovery() {
    documents.put("/version", version());
    documents.put("/api", coreVersions());
    documents.put("/apis", groupList());
    for (var kind : Kinds.all()) {
      documents.putIfAbsent(path(kind), resources(kind));
      if (!kind.group().isEmpty()) {
        documents.putIfAbsent("/apis/" + kind.group(), group(kind));
      }
    }
    documents.put("/", root());
  }

  /** The document at the path, if there is one. */
  Optional<ObjectNode> at(String path) {
    boolean slash = path.length() > 1 && path.endsWith("/");
    return Optional.ofNullable(documents.get(slash ? path.substring(0, path.length() - 1) : path));
  }

  /** Where the kinds of this kind's group and version are. */
  static String path(Kind kind) {
    return (kind.group().isEmpty() ? "/api/" : "/apis/") + kind.apiVersion();
  }

  private static ObjectNode version() {
    return Json.object().put("major", "1").put("minor", "36").put("gitVersion", "v1.36.2")
        .put("gitCommit", "").put("gitTreeState", "clean").put("buildDate", "2026-01-01T00:00:00Z")
        .put("goVersion", "none").put("compiler", "javac").put("platform", "jvm");
  }

  private static ObjectNode coreVersions() {
    var versions = Json.object().put("kind", "APIVersions");
    versions.putArray("versions").add("v1");
    versions.putArray("serverAddressByClientCIDRs");
    return versions;
  }

  private static ObjectNode groupList() {
    var list = Json.object().put("kind", "APIGroupList").put("apiVersion", "v1");
    var groups = list.putArray("groups");
    Kinds.all().stream().filter(kind -> !kind.group().isEmpty()).map(Discovery::group).distinct()
        .forEach(groups::add);
    return list;
  }

  private static ObjectNode group(Kind kind) {
    var version = Json.object().put("groupVersion", kind.apiVersion()).put("version",
        kind.version());
    var group = Json.object().put("kind", "APIGroup").put("apiVersion", "v1").put("name",
        kind.group());
    group.putArray("versions").add(version);
    return group.set("preferredVersion", version);
  }

  private static ObjectNode resources(Kind of) {
    var list = Json.object().put("kind", "APIResourceList").put("apiVersion", "v1")
        .put("groupVersion", of.apiVersion());
    var resources = list.putArray("resources");
    Kinds.all().stream().filter(kind -> kind.apiVersion().equals(of.apiVersion()))
        .forEach(kind -> add(kind, resources));
    return list;
  }

  private static void add(Kind kind, ArrayNode resources) {
    var row = row(kind, kind.plural(), kind.names().singular(), VERBS).put("kind", kind.kind());
    var shortNames = row.putArray("shortNames");
    kind.names().shortNames().forEach(shortNames::add);
    resources.add(row);
    if (kind.has(Trait.STATUS)) {
      resources.add(row(kind, kind.plural() + "/status", "", SUBRESOURCE_VERBS).put("kind",
          kind.kind()));
    }
    if (kind.has(Trait.SCALE)) {
      resources.add(row(kind, kind.plural() + "/scale", "", SUBRESOURCE_VERBS)
          .put("group", "autoscaling").put("version", "v1").put("kind", "Scale"));
    }
  }

  private static ObjectNode row(Kind kind, String name, String singular, List<String> verbs) {
    var row = Json.object().put("name", name).put("singularName", singular).put("namespaced",
        kind.namespaced());
    var list = row.putArray("verbs");
    verbs.forEach(list::add);
    return row;
  }

  private ObjectNode root() {
    var root = Json.object();
    var paths = root.putArray("paths");
    documents.keySet().forEach(paths::add);
    List.of("/healthz", "/livez", "/openapi/v3", "/readyz").forEach(paths::add);
    return root;
  }
}
