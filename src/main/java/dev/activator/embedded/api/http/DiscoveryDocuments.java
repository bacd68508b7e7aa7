package dev.activator.embedded.api.http;

import dev.activator.embedded.api.schema.OpenApi;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.KindRegistry;
import dev.activator.embedded.api.store.BuiltInKinds;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves the discovery and OpenAPI documents. The OpenAPI documents have only the parts that
 * kubectl reads: the schemas, and the parameter {@code fieldValidation} of patches.
 */
final class DiscoveryDocuments {
  private static final String OPENAPI = "/openapi/v3";

  static List<String> verbs(Kind kind) {
    return ComputedKinds.ALL.contains(kind)
        ? List.of("create")
        : VERBS.stream().filter(verb -> !verb.equals("deletecollection") || collective(kind))
            .filter(verb -> !(kind.has(Trait.EMPTY) && WRITES.contains(verb))).toList();
  }

  private static final List<String> VERBS = List.of("create", "delete", "deletecollection", "get",
      "list", "patch", "update", "watch");

  private static final List<String> WRITES = List.of("create", "patch", "update");

  private final KindRegistry kinds;
  private volatile Documents documents;

  private record Documents(List<Kind> kinds, Map<String, ObjectNode> byPath) {
    static Documents of(List<Kind> stored) {
      var kinds = withComputed(stored);
      var documents = new LinkedHashMap<String, ObjectNode>();
      documents.put("/version", version());
      documents.put("/api", coreVersions());
      documents.put("/apis", groupList(kinds));
      for (var kind : kinds) {
        documents.putIfAbsent(path(kind), resources(kind, kinds));
        if (!kind.group().isEmpty()) {
          documents.putIfAbsent("/apis/" + kind.group(), group(kind.group(), kinds));
        }
      }
      documents.put("/", root(List.copyOf(documents.keySet())));
      addOpenApi(kinds, documents);
      return new Documents(stored, documents);
    }
  }

  /** A subresource, and the kind of its objects. */
  record Subresource(String name, String group, String version, String kind, List<String> verbs) {
    private static final List<String> OBJECT = List.of("get", "patch", "update");
    private static final List<String> STREAM = List.of("create", "get");

    /** The subresources of a kind, sorted by name. */
    static List<Subresource> of(Kind kind) {
      var all = new ArrayList<Subresource>();
      if (kind.equals(BuiltInKinds.POD)) {
        all.add(new Subresource("exec", "", "v1", "PodExecOptions", STREAM));
        all.add(new Subresource("log", "", "v1", "Pod", List.of("get")));
        all.add(new Subresource("portforward", "", "v1", "PodPortForwardOptions", STREAM));
      }
      if (kind.has(Trait.SCALE)) {
        all.add(new Subresource("scale", "autoscaling", "v1", "Scale", OBJECT));
      }
      if (kind.has(Trait.STATUS)) {
        all.add(new Subresource("status", kind.group(), kind.version(), kind.kind(), OBJECT));
      }
      return all;
    }
  }

  DiscoveryDocuments(KindRegistry kinds) {
    this.kinds = kinds;
    this.documents = Documents.of(kinds.all());
  }

  static List<Kind> withComputed(List<Kind> stored) {
    return Stream.concat(stored.stream(), ComputedKinds.ALL.stream()).toList();
  }

  static boolean collective(Kind kind) {
    return !kind.equals(BuiltInKinds.NAMESPACE);
  }

  Optional<ObjectNode> at(String path) {
    var now = kinds.all();
    if (documents.kinds() != now) {
      documents = Documents.of(now);
    }
    boolean slash = path.length() > 1 && path.endsWith("/");
    var found = documents.byPath().get(slash ? path.substring(0, path.length() - 1) : path);
    return Optional.ofNullable(found == null || !found.has("components")
        ? found
        : withSchemas(found, withComputed(now).stream()
            .filter(kind -> path.equals(OPENAPI + path(kind))).toList()));
  }

  private static ObjectNode withSchemas(ObjectNode openApi, List<Kind> kinds) {
    var document = Json.object();
    document.setAll(openApi);
    document.putObject("components").set("schemas", OpenApi.schemas(kinds));
    return document;
  }

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

  private static ObjectNode groupList(List<Kind> kinds) {
    var list = Json.object().put("kind", "APIGroupList").put("apiVersion", "v1");
    var groups = list.putArray("groups");
    kinds.stream().map(Kind::group).filter(name -> !name.isEmpty()).distinct()
        .forEach(name -> groups.add(group(name, kinds)));
    return list;
  }

  private static ObjectNode group(String name, List<Kind> kinds) {
    var group = Json.object().put("kind", "APIGroup").put("apiVersion", "v1").put("name", name);
    var versions = group.putArray("versions");
    kinds.stream().filter(kind -> kind.group().equals(name)).map(Kind::version).distinct()
        .forEach(version -> versions.addObject().put("groupVersion", name + "/" + version)
            .put("version", version));
    return group.set("preferredVersion", versions.get(0));
  }

  private static ObjectNode resources(Kind of, List<Kind> kinds) {
    var list = Json.object().put("kind", "APIResourceList").put("apiVersion", "v1")
        .put("groupVersion", of.apiVersion());
    var resources = list.putArray("resources");
    kinds.stream().filter(kind -> kind.apiVersion().equals(of.apiVersion()))
        .forEach(kind -> add(kind, resources));
    return list;
  }

  private static void add(Kind kind, ArrayNode resources) {
    var row = row(kind, kind.plural(), kind.names().singular(), verbs(kind)).put("kind",
        kind.kind());
    put(row, "shortNames", kind.names().shortNames());
    put(row, "categories", kind.names().categories());
    resources.add(row);
    for (var sub : Subresource.of(kind)) {
      var added = row(kind, kind.plural() + "/" + sub.name(), "", sub.verbs());
      if (!sub.group().equals(kind.group())) {
        added.put("group", sub.group()).put("version", sub.version());
      }
      resources.add(added.put("kind", sub.kind()));
    }
  }

  private static ObjectNode row(Kind kind, String name, String singular, List<String> verbs) {
    var row = Json.object().put("name", name).put("singularName", singular).put("namespaced",
        kind.namespaced());
    put(row, "verbs", verbs);
    return row;
  }

  static void put(ObjectNode object, String name, List<String> words) {
    if (!words.isEmpty()) {
      var list = object.putArray(name);
      words.forEach(list::add);
    }
  }

  private static ObjectNode root(List<String> documents) {
    var root = Json.object();
    var paths = root.putArray("paths");
    documents.forEach(paths::add);
    paths.add("/healthz").add("/livez").add(OPENAPI).add("/readyz");
    return root;
  }

  private static void addOpenApi(List<Kind> kinds, Map<String, ObjectNode> documents) {
    var byVersion = new LinkedHashMap<String, ObjectNode>();
    for (var kind : kinds) {
      byVersion.computeIfAbsent(path(kind), _ -> openApi()).withObjectProperty("paths")
          .set(itemPath(kind), item(kind));
    }
    var index = Json.object();
    var paths = index.putObject("paths");
    byVersion.forEach((path, document) -> {
      documents.put(OPENAPI + path, document);
      paths.putObject(path.substring(1)).put("serverRelativeURL",
          OPENAPI + path + "?hash=" + Integer.toHexString(hash(kinds, path, document)));
    });
    documents.put(OPENAPI, index);
  }

  /** The hash of a document. Clients cache the document until the hash changes. */
  private static int hash(List<Kind> kinds, String path, ObjectNode document) {
    return kinds.stream().filter(kind -> path(kind).equals(path)).map(Kind::schema)
        .mapToInt(Object::hashCode).reduce(document.hashCode(), (one, other) -> 31 * one + other);
  }

  private static ObjectNode openApi() {
    var document = Json.object().put("openapi", "3.0.0");
    document.putObject("info").put("title", "activator").put("version", "v1.36.2");
    document.putObject("paths");
    document.putObject("components").putObject("schemas");
    return document;
  }

  private static String itemPath(Kind kind) {
    String within = kind.namespaced() ? "/namespaces/{namespace}/" : "/";
    return DiscoveryDocuments.path(kind) + within + kind.plural() + "/{name}";
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
