package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * The representation as a table, for {@code kubectl get}. In a watch, only the first message
 * contains the columns.
 */
public record TableEncoder(Kind kind, Supplier<Instant> now, Include include)
    implements ApiObjectEncoder {
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
  public byte[] object(WatchCacheObject object) {
    return Json.bytes(table(version(object.revision()), List.of(object.object()), Header.SHOWN));
  }

  @Override
  public byte[] list(ListPage page) {
    var objects = page.objects().stream().map(WatchCacheObject::object).toList();
    return Json.bytes(table(FullObjectEncoder.metadata(page), objects, Header.SHOWN));
  }

  @Override
  public byte[] tree(ObjectNode object) {
    return Json.bytes(table(version(0), List.of(object), Header.SHOWN));
  }

  @Override
  public EventEncoder events() {
    return new Events();
  }

  private ObjectNode table(ObjectNode metadata, List<ObjectNode> objects, Header header) {
    var table = Json.object().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
    table.set("metadata", metadata);
    var columns = TableColumns.of(kind);
    if (header == Header.LEFT_OUT) {
      table.putNull("columnDefinitions");
    } else {
      var definitions = table.putArray("columnDefinitions");
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
      case METADATA -> row.set("object", ApiObjectEncoder.OfMetadata.partial(object));
      case ALL -> row.set("object", object);
    }
  }

  private static ObjectNode version(long revision) {
    return Json.object().put("resourceVersion", Long.toString(revision));
  }

  private final class Events implements EventEncoder {
    private Header header = Header.SHOWN;

    @Override
    public byte[] encode(WatchMessage signal) {
      return switch (signal) {
        case WatchMessage.Changed(var type, var object) ->
          frame(type.name(), table(version(object.revision()), List.of(object.object()), header));
        case WatchMessage.Bookmark bookmark -> frame("BOOKMARK",
            table(version(bookmark.revision()),
                List.of(FullObjectEncoder.bookmark(kind, bookmark)), header));
        case WatchMessage.Failed(var failure) ->
          FullObjectEncoder.frame("ERROR", Json.bytes(failure.status()));
      };
    }

    private byte[] frame(String type, ObjectNode table) {
      header = Header.LEFT_OUT;
      return FullObjectEncoder.frame(type, Json.bytes(table));
    }
  }
}
