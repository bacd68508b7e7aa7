package dev.activator.embedded.api.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.io.ByteArrayOutputStream;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/**
 * The representation with whole objects as JSON. Lists and watches share the bytes of an object.
 */
public record FullObjectEncoder(Kind kind) implements ApiObjectEncoder {
  @Override
  public byte[] object(WatchCacheObject object) {
    return object.json();
  }

  @Override
  public byte[] list(ListPage page) {
    var head = Json.object().put("kind", kind.kind() + "List").put("apiVersion", kind.apiVersion());
    head.set("metadata", metadata(page));
    var bytes = new ByteArrayOutputStream();
    var start = Json.bytes(head);
    bytes.write(start, 0, start.length - 1);
    bytes.writeBytes(",\"items\":[".getBytes(US_ASCII));
    join(page.objects(), bytes);
    bytes.writeBytes("]}".getBytes(US_ASCII));
    return bytes.toByteArray();
  }

  @Override
  public byte[] tree(ObjectNode object) {
    return Json.bytes(object);
  }

  static ObjectNode metadata(ListPage page) {
    var metadata = Json.object().put("resourceVersion", Long.toString(page.revision()));
    if (!page.next().isEmpty()) {
      metadata.put("continue", page.next());
    }
    if (page.remaining() > 0) {
      metadata.put("remainingItemCount", page.remaining());
    }
    return metadata;
  }

  static ObjectNode bookmark(Kind kind, WatchMessage.Bookmark bookmark) {
    var object = Json.object().put("kind", kind.kind()).put("apiVersion", kind.apiVersion());
    var metadata = object.putObject("metadata").put("resourceVersion",
        Long.toString(bookmark.revision()));
    if (bookmark.position() == WatchMessage.Position.END_OF_INITIAL_EVENTS) {
      metadata.putObject("annotations").put("k8s.io/initial-events-end", "true");
    }
    return object;
  }

  static byte[] frame(String type, byte[] object) {
    var bytes = new ByteArrayOutputStream(object.length + 40);
    bytes.writeBytes(("{\"type\":\"" + type + "\",\"object\":").getBytes(US_ASCII));
    bytes.writeBytes(object);
    bytes.write('}');
    return bytes.toByteArray();
  }

  private static void join(List<WatchCacheObject> objects, ByteArrayOutputStream bytes) {
    boolean first = true;
    for (var object : objects) {
      if (!first) {
        bytes.write(',');
      }
      first = false;
      bytes.writeBytes(object.json());
    }
  }
}
