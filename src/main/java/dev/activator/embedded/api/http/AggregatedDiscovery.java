package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.http.DiscoveryDocuments.Subresource;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.KindRegistry;
import java.util.Optional;
import java.util.Set;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerRequest;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves the aggregated discovery documents: one for the core group, and one for all other groups.
 *
 * <p><b>Source.</b> {@code discovery/aggregated/handler.go} in Kubernetes' apiserver.
 */
final class AggregatedDiscovery {
  private static final String GROUP = "apidiscovery.k8s.io";
  private static final String KIND = "APIGroupDiscoveryList";
  private static final Set<String> VERSIONS = Set.of("v2", "v2beta1");

  private final KindRegistry kinds;

  /** @param type the media type, which clients compare exactly */
  record Answer(MediaType type, ObjectNode document) {}

  AggregatedDiscovery(KindRegistry kinds) {
    this.kinds = kinds;
  }

  Optional<Answer> at(String path, ServerRequest request) {
    if (!path.equals("/api") && !path.equals("/apis")) {
      return Optional.empty();
    }
    var first = request.headers().accept().stream().findFirst();
    return first.filter(AggregatedDiscovery::isThisForm).map(type -> answer(path, type));
  }

  private static boolean isThisForm(MediaType type) {
    return GROUP.equals(type.getParameter("g")) && KIND.equals(type.getParameter("as"))
        && VERSIONS.contains(String.valueOf(type.getParameter("v")));
  }

  private Answer answer(String path, MediaType requested) {
    String version = String.valueOf(requested.getParameter("v"));
    var list = Json.object().put("kind", KIND).put("apiVersion", GROUP + "/" + version);
    list.putObject("metadata");
    var items = list.putArray("items");
    DiscoveryDocuments.withComputed(kinds.all()).stream().map(Kind::group)
        .filter(group -> group.isEmpty() == path.equals("/api")).distinct()
        .forEach(group -> items.add(group(group)));
    var type = MediaType
        .parseMediaType("application/json;g=" + GROUP + ";v=" + version + ";as=" + KIND);
    return new Answer(type, list);
  }

  private ObjectNode group(String name) {
    var group = Json.object();
    group.putObject("metadata").put("name", name).putNull("creationTimestamp");
    var versions = group.putArray("versions");
    var members = DiscoveryDocuments.withComputed(kinds.all()).stream()
        .filter(kind -> kind.group().equals(name)).toList();
    members.stream().map(Kind::version).distinct().forEach(version -> {
      var resources = versions.addObject().put("version", version).put("freshness", "Current")
          .putArray("resources");
      members.stream().filter(kind -> kind.version().equals(version))
          .forEach(kind -> resources.add(resource(kind)));
    });
    return group;
  }

  private static ObjectNode resource(Kind kind) {
    var resource = Json.object().put("resource", kind.plural());
    response(resource, kind.group(), kind.version(), kind.kind());
    resource.put("scope", kind.namespaced() ? "Namespaced" : "Cluster").put("singularResource",
        kind.names().singular());
    DiscoveryDocuments.put(resource, "verbs", DiscoveryDocuments.verbs(kind));
    DiscoveryDocuments.put(resource, "shortNames", kind.names().shortNames());
    DiscoveryDocuments.put(resource, "categories", kind.names().categories());
    var subresources = Subresource.of(kind);
    if (!subresources.isEmpty()) {
      var list = resource.putArray("subresources");
      for (var sub : subresources) {
        var added = list.addObject().put("subresource", sub.name());
        response(added, sub.group(), sub.version(), sub.kind());
        DiscoveryDocuments.put(added, "verbs", sub.verbs());
      }
    }
    return resource;
  }

  private static void response(ObjectNode of, String group, String version, String kind) {
    of.putObject("responseKind").put("group", group).put("version", version).put("kind", kind);
  }
}
