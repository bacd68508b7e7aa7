package dev.activator.embedded.api.http;

import dev.activator.embedded.api.Json;
import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.cache.CachedObject;
import dev.activator.embedded.api.cache.Signal;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * Objects as rows, for people: what {@code kubectl get} asks for. In a watch, the columns come with
 * the first row alone.
 *
 * @param kind of the objects
 * @param now the time, for ages
 */
record TableForm(Kind kind, Supplier<Instant> now) implements Form {
  private enum Header {
    SHOWN, LEFT_OUT
  }

  @Override
  public byte[] object(CachedObject object) {
    var metadata = Json.object().put("resourceVersion", Long.toString(object.revision()));
    return Json.bytes(table(metadata, List.of(object.object()), Header.SHOWN));
  }

  @Override
  public byte[] list(Page page) {
    var objects = page.objects().stream().map(CachedObject::object).toList();
    return Json.bytes(table(PlainForm.metadata(page), objects, Header.SHOWN));
  }

  @Override
  public EventEncoder events() {
    return new Events();
  }

  private ObjectNode table(ObjectNode metadata, List<ObjectNode> objects, Header header) {
    var table = Json.object().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
    table.set("metadata", metadata);
    var columns = Columns.of(kind);
    var definitions = table.putArray("columnDefinitions");
    if (header == Header.SHOWN) {
      columns.forEach(column -> definitions.addObject().put("name", column.name())
          .put("type", "string").put("format", column.format()).put("description", column.name())
          .put("priority", 0));
    }
    var rows = table.putArray("rows");
    for (var object : objects) {
      var row = rows.addObject();
      var cells = row.putArray("cells");
      columns.forEach(column -> cells.add(column.cell(object, now.get())));
      row.set("object", partial(object));
    }
    return table;
  }

  private static ObjectNode partial(ObjectNode object) {
    var partial = Json.object().put("kind", "PartialObjectMetadata").put("apiVersion",
        "meta.k8s.io/v1");
    return partial.set("metadata", object.path("metadata"));
  }

  /** Remembers whether the columns were told. */
  private final class Events implements EventEncoder {
    private Header header = Header.SHOWN;

    @Override
    public byte[] encode(Signal signal) {
      return switch (signal) {
        case Signal.Changed(var type, var object) -> {
          var metadata = Json.object().put("resourceVersion", Long.toString(object.revision()));
          var table = table(metadata, List.of(object.object()), header);
          header = Header.LEFT_OUT;
          yield PlainForm.frame(type.name(), Json.bytes(table));
        }
        case Signal.Bookmark bookmark -> {
          var table = table(Json.object(), List.of(PlainForm.bookmark(kind, bookmark)), header);
          header = Header.LEFT_OUT;
          yield PlainForm.frame("BOOKMARK", Json.bytes(table));
        }
        case Signal.Failed(var failure) -> PlainForm.frame("ERROR", Json.bytes(failure.status()));
      };
    }
  }
}
