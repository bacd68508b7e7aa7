package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.WatchMessage.Changed;
import dev.activator.embedded.api.store.ApiStoreChange;
import org.jspecify.annotations.Nullable;

/** One change in a watch cache's window of recent events. All watches share its messages. */
public final class WatchCacheEvent {
  private final ApiStoreChange.Type type;
  private final WatchCacheObject object;
  private final @Nullable WatchCacheObject previous;
  private final SortedObjects after;
  private final long atNanos;
  private final Changed added;
  private final Changed modified;
  private @Nullable Changed gone;

  /**
   * @param object the object; after a deletion, its last state with the new revision
   * @param previous the object with this key before the event; null if there was none
   * @param after all objects of the kind after this event
   */
  public WatchCacheEvent(ApiStoreChange.Type type, WatchCacheObject object,
      @Nullable WatchCacheObject previous,
      SortedObjects after,
      long atNanos) {
    this.type = type;
    this.object = object;
    this.previous = previous;
    this.after = after;
    this.atNanos = atNanos;
    this.added = new Changed(ApiStoreChange.Type.ADDED, object);
    this.modified = new Changed(ApiStoreChange.Type.MODIFIED, object);
  }

  public ApiStoreChange.Type type() {
    return type;
  }

  public WatchCacheObject object() {
    return object;
  }

  public @Nullable WatchCacheObject previous() {
    return previous;
  }

  public SortedObjects after() {
    return after;
  }

  public long atNanos() {
    return atNanos;
  }

  public long revision() {
    return object.revision();
  }

  /** The message for watches that did not see the object before. */
  Changed added() {
    return added;
  }

  /** The message for watches that saw the object before. */
  Changed modified() {
    return modified;
  }

  /**
   * The message for watches that no longer see the object: a deletion with its previous content and
   * this revision.
   */
  Changed gone(WatchCacheObject before) {
    var known = gone;
    if (known == null) {
      known = new Changed(ApiStoreChange.Type.DELETED,
          type == ApiStoreChange.Type.DELETED ? object : before.at(revision()));
      gone = known;
    }
    return known;
  }
}
