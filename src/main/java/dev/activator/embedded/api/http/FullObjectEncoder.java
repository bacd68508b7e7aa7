package dev.activator.embedded.api.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.springframework.core.io.buffer.DataBuffer;
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
  public EventEncoder events() {
    return new Events(kind);
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
    bytes.writeBytes(start(type));
    bytes.writeBytes(object);
    bytes.write('}');
    return bytes.toByteArray();
  }

  private static byte[] start(String type) {
    return ("{\"type\":\"" + type + "\",\"object\":").getBytes(US_ASCII);
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

  private record Events(Kind kind) implements EventEncoder {
    private static final byte[] ADDED = start(ApiStoreChange.Type.ADDED.name());
    private static final byte[] MODIFIED = start(ApiStoreChange.Type.MODIFIED.name());
    private static final byte[] DELETED = start(ApiStoreChange.Type.DELETED.name());

    @Override
    public byte[] encode(WatchMessage signal) {
      return switch (signal) {
        case WatchMessage.Changed(var type, var object) -> frame(type.name(), object.json());
        case WatchMessage.Bookmark bookmark ->
          frame("BOOKMARK", Json.bytes(bookmark(kind, bookmark)));
        case WatchMessage.Failed(var failure) -> frame("ERROR", Json.bytes(failure.status()));
      };
    }

    @Override
    public void encode(WatchMessage signal, DataBuffer out) {
      if (signal instanceof WatchMessage.Changed(var type, var object)) {
        out.write(known(type)).write(object.json()).write((byte) '}');
      } else {
        out.write(encode(signal));
      }
    }

    private static byte[] known(ApiStoreChange.Type type) {
      return switch (type) {
        case ADDED -> ADDED;
        case MODIFIED -> MODIFIED;
        case DELETED -> DELETED;
      };
    }
  }
}
