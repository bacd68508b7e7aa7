package dev.activator.embedded.api.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The objects in memory, by kind and key, with the revision counter.
 *
 * <p><b>Threads.</b> Guarded by the store's lock.
 */
interface InMemoryStorage {
  @Nullable ObjectNode find(Kind kind, String key);

  /** The objects of a kind, sorted by key. */
  List<ObjectNode> list(Kind kind);

  ObjectNode put(Kind kind, ObjectNode object);

  ObjectNode remove(Kind kind, ObjectNode stored);

  /**
   * The tables of objects.
   *
   * <p><b>Threads.</b> Guarded by the store's lock, except for {@link #revision} and the list of
   * listeners. Listeners are called inside the lock, in order, so they must pass on to another
   * thread.
   */
  final class Tables implements InMemoryStorage {
    private final Map<Kind, Map<String, ObjectNode>> byKind = new ConcurrentHashMap<>();
    private final List<Consumer<ApiStoreChange>> listeners = new CopyOnWriteArrayList<>();
    private volatile long revision;

    Tables(long firstRevision) {
      this.revision = firstRevision;
    }

    long revision() {
      return revision;
    }

    void revision(long next) {
      revision = next;
    }

    Map<Kind, Map<String, ObjectNode>> byKind() {
      return byKind;
    }

    @Override
    public @Nullable ObjectNode find(Kind kind, String key) {
      return of(kind).get(key);
    }

    @Override
    public List<ObjectNode> list(Kind kind) {
      return new ArrayList<>(of(kind).values());
    }

    @Override
    public ObjectNode put(Kind kind, ObjectNode object) {
      ObjectMeta.of(object).put("resourceVersion", Long.toString(revision + 1));
      var previous = of(kind).put(ObjectMeta.key(object), object);
      publish(previous == null ? ApiStoreChange.Type.ADDED : ApiStoreChange.Type.MODIFIED, kind,
          object);
      return object;
    }

    /** Removes an object. The result has the revision of the deletion. */
    @Override
    public ObjectNode remove(Kind kind, ObjectNode stored) {
      var last = stored.deepCopy();
      ObjectMeta.of(last).put("resourceVersion", Long.toString(revision + 1));
      of(kind).remove(ObjectMeta.key(stored));
      publish(ApiStoreChange.Type.DELETED, kind, last);
      return last;
    }

    void listen(Consumer<ApiStoreChange> listener) {
      listeners.add(listener);
    }

    void forget(Consumer<ApiStoreChange> listener) {
      listeners.remove(listener);
    }

    private void publish(ApiStoreChange.Type type, Kind kind, ObjectNode object) {
      var event = new ApiStoreChange(type, kind, object, revision + 1);
      listeners.forEach(listener -> listener.accept(event));
      // The revision is set last, so that listeners have all changes up to the revision that a
      // reader sees.
      revision = event.revision();
    }

    private Map<String, ObjectNode> of(Kind kind) {
      return byKind.computeIfAbsent(kind, _ -> new TreeMap<>());
    }
  }

  /** The storage of a dry run. It stores nothing, so new objects get no resourceVersion. */
  record DryRunStorage(InMemoryStorage stored) implements InMemoryStorage {
    @Override
    public @Nullable ObjectNode find(Kind kind, String key) {
      return stored.find(kind, key);
    }

    @Override
    public List<ObjectNode> list(Kind kind) {
      return stored.list(kind);
    }

    @Override
    public ObjectNode put(Kind kind, ObjectNode object) {
      return object;
    }

    @Override
    public ObjectNode remove(Kind kind, ObjectNode object) {
      return object;
    }
  }
}
