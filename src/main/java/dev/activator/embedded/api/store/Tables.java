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
 * The objects themselves, by kind and key, with the counter that orders all changes.
 *
 * <p>
 * <b>Threads.</b> Guarded by its owner's lock, but for {@link #revision} and the list of listeners.
 * Listeners are called inside it, in order of the commits: they must hand over and return.
 */
final class Tables implements Storage {
  private final Map<Kind, Map<String, ObjectNode>> byKind = new ConcurrentHashMap<>();
  private final List<Consumer<ApiEvent>> listeners = new CopyOnWriteArrayList<>();
  private volatile long revision;

  Tables(long firstRevision) {
    this.revision = firstRevision;
  }

  long revision() {
    return revision;
  }

  @Override
  public @Nullable ObjectNode find(Kind kind, String key) {
    return of(kind).get(key);
  }

  @Override
  public List<ObjectNode> list(Kind kind) {
    return new ArrayList<>(of(kind).values());
  }

  /** Puts the object in place of what has its key, and gives it the next revision. */
  @Override
  public ObjectNode put(Kind kind, ObjectNode object) {
    var previous = of(kind).get(Meta.key(object));
    Meta.of(object).put("resourceVersion", Long.toString(revision + 1));
    of(kind).put(Meta.key(object), object);
    publish(previous == null ? ApiEvent.Type.ADDED : ApiEvent.Type.MODIFIED, kind, object);
    return object;
  }

  /** Takes the object out, and returns it as it last was, with the revision of its end. */
  @Override
  public ObjectNode remove(Kind kind, ObjectNode stored) {
    var last = stored.deepCopy();
    Meta.of(last).put("resourceVersion", Long.toString(revision + 1));
    of(kind).remove(Meta.key(stored));
    publish(ApiEvent.Type.DELETED, kind, last);
    return last;
  }

  void revision(long next) {
    revision = next;
  }

  Map<Kind, Map<String, ObjectNode>> byKind() {
    return byKind;
  }

  void listen(Consumer<ApiEvent> listener) {
    listeners.add(listener);
  }

  void forget(Consumer<ApiEvent> listener) {
    listeners.remove(listener);
  }

  private void publish(ApiEvent.Type type, Kind kind, ObjectNode object) {
    var commit = new ApiEvent(type, kind, object, revision + 1);
    listeners.forEach(listener -> listener.accept(commit));
    // Last: who reads this revision finds that every listener has been handed all up to it.
    revision = commit.revision();
  }

  private Map<String, ObjectNode> of(Kind kind) {
    return byKind.computeIfAbsent(kind, _ -> new TreeMap<>());
  }
}
