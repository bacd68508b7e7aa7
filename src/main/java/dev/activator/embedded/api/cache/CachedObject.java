package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.Json;
import dev.activator.embedded.api.Kind;
import dev.activator.embedded.api.Meta;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * One state of one object, with what selectors look at taken out once. Immutable; the tree is
 * shared and never changes.
 */
public final class CachedObject {
  private final Kind kind;
  private final String key;
  private final long revision;
  private final ObjectNode object;
  private final Map<String, String> labels;
  private final Map<String, String> fields;
  private volatile byte @Nullable [] json;

  private CachedObject(Kind kind, ObjectNode object) {
    this.kind = kind;
    this.key = Meta.key(object);
    this.revision = Meta.revision(object);
    this.object = object;
    this.labels = Meta.labels(object);
    this.fields = SelectableFields.of(kind, object);
  }

  /**
   * Of a stored object.
   *
   * @throws RuntimeException if it has no name or no resourceVersion, which a stored one does
   */
  public static CachedObject of(Kind kind, ObjectNode stored) {
    if (Meta.name(stored).isEmpty()) {
      throw new IllegalArgumentException("an object without a name among " + kind);
    }
    return new CachedObject(kind, stored);
  }

  /** The same content with a later revision: what a watcher is told of an object's end. */
  CachedObject at(long later) {
    var copy = object.deepCopy();
    Meta.of(copy).put("resourceVersion", Long.toString(later));
    return new CachedObject(kind, copy);
  }

  public String key() {
    return key;
  }

  public long revision() {
    return revision;
  }

  /** For reading only. */
  public ObjectNode object() {
    return object;
  }

  public Map<String, String> labels() {
    return labels;
  }

  public Map<String, String> fields() {
    return fields;
  }

  /** The object in JSON, encoded when first asked for. */
  public byte[] json() {
    var known = json;
    if (known == null) {
      known = Json.bytes(object);
      json = known;
    }
    return known;
  }

  @Override
  public String toString() {
    return key + "@" + revision;
  }
}
