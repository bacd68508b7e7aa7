package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * One version of an object: its JSON as bytes, and the fields that selectors test. Immutable. The
 * tree is not kept, to save memory.
 */
public final class WatchCacheObject {
  private final String key;
  private final long revision;
  private final Map<String, String> labels;
  private final Map<String, String> fields;
  private final byte[] json;

  private WatchCacheObject(String key, long revision, Map<String, String> labels,
      Map<String, String> fields, byte[] json) {
    this.key = key;
    this.revision = revision;
    this.labels = labels;
    this.fields = fields;
    this.json = json;
  }

  public static WatchCacheObject of(Kind kind, ObjectNode stored) {
    return of(kind, stored, null);
  }

  public static WatchCacheObject of(Kind kind, ObjectNode stored,
      @Nullable WatchCacheObject before) {
    if (ObjectMeta.name(stored).isEmpty()) {
      throw new IllegalArgumentException("an object of " + kind + " has no name");
    }
    var labels = ObjectMeta.labels(stored);
    var fields = ObjectSelection.fieldsOf(kind, stored);
    return new WatchCacheObject(ObjectMeta.key(stored), ObjectMeta.revision(stored),
        before != null && before.labels.equals(labels) ? before.labels : labels,
        before != null && before.fields.equals(fields) ? before.fields : fields,
        Json.bytes(stored));
  }

  /** A copy with another revision, for the last state of a deleted object. */
  WatchCacheObject at(long later) {
    var copy = object();
    ObjectMeta.of(copy).put("resourceVersion", Long.toString(later));
    return new WatchCacheObject(key, later, labels, fields, Json.bytes(copy));
  }

  public String key() {
    return key;
  }

  public long revision() {
    return revision;
  }

  /** The object as a tree, which is parsed in each call. */
  public ObjectNode object() {
    return (ObjectNode) Json.MAPPER.readTree(json);
  }

  public Map<String, String> labels() {
    return labels;
  }

  public Map<String, String> fields() {
    return fields;
  }

  /** The JSON. The array is shared, and must not be changed. */
  public byte[] json() {
    return json;
  }

  @Override
  public String toString() {
    return key + "@" + revision;
  }
}
