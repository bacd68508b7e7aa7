package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.Signal.Changed;
import dev.activator.embedded.api.store.ApiEvent;
import org.jspecify.annotations.Nullable;

/**
 * One change, as the window keeps it. What watchers are told of it is made once and shared by all.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop.
 */
public final class CacheEvent {
  private final ApiEvent.Type type;
  private final CachedObject object;
  private final @Nullable CachedObject previous;
  private final SortedObjects after;
  private final long atNanos;
  private final Changed added;
  private final Changed modified;
  private @Nullable Changed gone;

  /**
   * Of a change.
   *
   * @param type what happened
   * @param object as it is now; for a deleted one, as it last was, with the revision of its end
   * @param previous what the store held under this key before; null for nothing
   * @param after all objects after this event
   * @param atNanos when the cache learnt of it, on its loop's clock
   */
  public CacheEvent(ApiEvent.Type type, CachedObject object, @Nullable CachedObject previous,
      SortedObjects after,
      long atNanos) {
    this.type = type;
    this.object = object;
    this.previous = previous;
    this.after = after;
    this.atNanos = atNanos;
    this.added = new Changed(ApiEvent.Type.ADDED, object);
    this.modified = new Changed(ApiEvent.Type.MODIFIED, object);
  }

  public ApiEvent.Type type() {
    return type;
  }

  public CachedObject object() {
    return object;
  }

  public @Nullable CachedObject previous() {
    return previous;
  }

  /** All objects once this has happened. */
  public SortedObjects after() {
    return after;
  }

  /** When it came to the cache, by its loop. */
  public long atNanos() {
    return atNanos;
  }

  public long revision() {
    return object.revision();
  }

  /** For watches that did not match the object before. */
  Changed added() {
    return added;
  }

  /** For watches that matched it before. */
  Changed modified() {
    return modified;
  }

  /** For watches that no longer match it: its previous content, this revision. */
  Changed gone(CachedObject before) {
    var known = gone;
    if (known == null) {
      known = new Changed(ApiEvent.Type.DELETED,
          type == ApiEvent.Type.DELETED ? object : before.at(revision()));
      gone = known;
    }
    return known;
  }
}
