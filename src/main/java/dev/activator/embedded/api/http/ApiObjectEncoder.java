package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.http.MediaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A representation in which objects, lists and watch events are encoded for a client: whole
 * objects, metadata only, or a table.
 */
public interface ApiObjectEncoder {
  byte[] object(WatchCacheObject object);

  byte[] list(ListPage page);

  /** The representation of a tree, such as that of a bookmark. */
  byte[] tree(ObjectNode object);

  Kind kind();

  default EventEncoder events() {
    return signal -> switch (signal) {
      case WatchMessage.Changed(var type, var object) ->
        FullObjectEncoder.frame(type.name(), object(object));
      case WatchMessage.Bookmark bookmark -> FullObjectEncoder.frame("BOOKMARK",
          tree(FullObjectEncoder.bookmark(kind(), bookmark)));
      case WatchMessage.Failed(var failure) ->
        FullObjectEncoder.frame("ERROR", Json.bytes(failure.status()));
    };
  }

  interface EventEncoder {
    byte[] encode(WatchMessage signal);
  }

  /**
   * The shape of the representation that a client accepts. <b>Source.</b>
   * {@code endpoints/handlers/negotiation/negotiate.go} in Kubernetes' apiserver.
   */
  enum Shape {
    PLAIN,
    TABLE,
    METADATA;

    private static final String GROUP = "meta.k8s.io";
    private static final Set<String> VERSIONS = Set.of("v1", "v1beta1");

    static Optional<Shape> accepted(List<MediaType> accept) {
      if (accept.isEmpty()) {
        return Optional.of(PLAIN);
      }
      return accept.stream().filter(type -> type.getQualityValue() > 0)
          .sorted(Comparator.comparing(MediaType::getQualityValue).reversed()).map(Shape::of)
          .flatMap(Optional::stream).findFirst();
    }

    private static Optional<Shape> of(MediaType type) {
      if (!type.isCompatibleWith(MediaType.APPLICATION_JSON)) {
        return Optional.empty();
      }
      String as = type.getParameter("as");
      if (as == null) {
        return Optional.of(PLAIN);
      }
      boolean known = GROUP.equals(type.getParameter("g"))
          && VERSIONS.contains(String.valueOf(type.getParameter("v")));
      return switch (as) {
        case "Table" -> known ? Optional.of(TABLE) : Optional.empty();
        case "PartialObjectMetadata", "PartialObjectMetadataList" ->
          known ? Optional.of(METADATA) : Optional.empty();
        default -> Optional.empty();
      };
    }
  }

  record OfMetadata(Kind kind) implements ApiObjectEncoder {
    private static final String VERSION = "meta.k8s.io/v1";

    @Override
    public byte[] object(WatchCacheObject object) {
      return tree(object.object());
    }

    @Override
    public byte[] tree(ObjectNode object) {
      return Json.bytes(partial(object));
    }

    @Override
    public byte[] list(ListPage page) {
      var list = Json.object().put("kind", "PartialObjectMetadataList").put("apiVersion", VERSION);
      list.set("metadata", FullObjectEncoder.metadata(page));
      var items = list.putArray("items");
      page.objects().forEach(object -> items.add(partial(object.object())));
      return Json.bytes(list);
    }

    static ObjectNode partial(JsonNode object) {
      var partial = Json.object().put("kind", "PartialObjectMetadata").put("apiVersion", VERSION);
      return partial.set("metadata", object.path("metadata"));
    }
  }
}
