package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CachedObject;
import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * The representation as a table, for {@code kubectl get}. In a watch, only the first row comes with
 * the columns.
 */
public record TableRepresentation(Kind kind, Supplier<Instant> now, Include include)
    implements ApiRepresentation {
  public enum Include {
    NOTHING,
    METADATA,
    ALL
  }

  private enum Header {
    SHOWN,
    LEFT_OUT
  }

  @Override
  public byte[] object(CachedObject object) {
    return Json.bytes(table(version(object), List.of(object.object()), Header.SHOWN));
  }

  @Override
  public byte[] list(ListPage page) {
    var objects = page.objects().stream().map(CachedObject::object).toList();
    return Json.bytes(table(FullObjectRepresentation.metadata(page), objects, Header.SHOWN));
  }

  @Override
  public EventEncoder events() {
    return new Events();
  }

  private ObjectNode table(ObjectNode metadata, List<ObjectNode> objects, Header header) {
    var table = Json.object().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
    table.set("metadata", metadata);
    var columns = TableColumns.of(kind);
    var definitions = table.putArray("columnDefinitions");
    if (header == Header.SHOWN) {
      columns.forEach(column -> column.define(definitions.addObject()));
    }
    var rows = table.putArray("rows");
    var time = now.get();
    for (var object : objects) {
      var row = rows.addObject();
      var cells = row.putArray("cells");
      columns.forEach(column -> column.addCell(cells, object, time));
      include(object, row);
    }
    return table;
  }

  private void include(ObjectNode object, ObjectNode row) {
    switch (include) {
      case NOTHING -> row.putNull("object");
      case METADATA -> row.set("object", ApiRepresentation.OfMetadata.partial(object));
      case ALL -> row.set("object", object);
    }
  }

  private static ObjectNode version(CachedObject object) {
    return Json.object().put("resourceVersion", Long.toString(object.revision()));
  }

  private final class Events implements EventEncoder {
    private Header header = Header.SHOWN;

    @Override
    public byte[] encode(WatchMessage signal) {
      return switch (signal) {
        case WatchMessage.Changed(var type, var object) ->
          frame(type.name(), table(version(object), List.of(object.object()), header));
        case WatchMessage.Bookmark bookmark -> frame("BOOKMARK",
            table(Json.object(), List.of(FullObjectRepresentation.bookmark(kind, bookmark)),
                header));
        case WatchMessage.Failed(var failure) ->
          FullObjectRepresentation.frame("ERROR", Json.bytes(failure.status()));
      };
    }

    private byte[] frame(String type, ObjectNode table) {
      header = Header.LEFT_OUT;
      return FullObjectRepresentation.frame(type, Json.bytes(table));
    }
  }
}
