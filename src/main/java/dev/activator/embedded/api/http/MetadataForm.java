package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CachedObject;
import dev.activator.embedded.api.cache.Signal;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Objects without their content, for clients that only care who is there.
 *
 * @param kind of the objects
 */
public record MetadataForm(Kind kind) implements Form {
  private static final String VERSION = "meta.k8s.io/v1";

  @Override
  public byte[] object(CachedObject object) {
    return Json.bytes(partial(object.object()));
  }

  @Override
  public byte[] list(Page page) {
    var list = Json.object().put("kind", "PartialObjectMetadataList").put("apiVersion", VERSION);
    list.set("metadata", PlainForm.metadata(page));
    var items = list.putArray("items");
    page.objects().forEach(object -> items.add(partial(object.object())));
    return Json.bytes(list);
  }

  @Override
  public EventEncoder events() {
    return signal -> switch (signal) {
      case Signal.Changed(var type, var object) ->
        PlainForm.frame(type.name(), Json.bytes(partial(object.object())));
      case Signal.Bookmark bookmark ->
        PlainForm.frame("BOOKMARK", Json.bytes(partial(PlainForm.bookmark(kind, bookmark))));
      case Signal.Failed(var failure) -> PlainForm.frame("ERROR", Json.bytes(failure.status()));
    };
  }

  /** The object with nothing in it but its metadata. */
  static ObjectNode partial(JsonNode object) {
    var partial = Json.object().put("kind", "PartialObjectMetadata").put("apiVersion", VERSION);
    return partial.set("metadata", object.path("metadata"));
  }
}
