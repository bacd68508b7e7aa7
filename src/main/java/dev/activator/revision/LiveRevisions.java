package dev.activator.revision;

import dev.activator.loop.Loop;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The revisions that exist, by id. A part that keeps something for each revision declares a
 * {@link Slot} here instead of a separate map.
 *
 * <p><b>Threads.</b> Any thread may look up. Only {@code MergedRevisions} calls {@link #update} and
 * {@link #end}, from one thread at a time.
 */
public final class LiveRevisions {
  private final ConcurrentMap<RevisionId, LiveRevision> all = new ConcurrentHashMap<>();
  private final List<Slot<?>> slots = new CopyOnWriteArrayList<>();
  private final Function<RevisionId, ? extends Loop> loops;

  /** @param loops selects a revision's loop; must always select the same for an id */
  public LiveRevisions(Function<RevisionId, ? extends Loop> loops) {
    this.loops = loops;
  }

  /**
   * Declares a value of each revision.
   *
   * @param name for the log
   * @param make makes the value when it is first used; called with the revision's lock held
   * @param end gets each value that was made, once, when its revision is deleted. Values of slots
   *     declared later, which may depend on this one, have ended by then. Called on the thread of
   *     {@link #end}; an exception is logged
   */
  public synchronized <T> Slot<T> declare(String name, Function<LiveRevision, ? extends T> make,
      Consumer<? super T> end) {
    var slot = new Slot<T>(slots.size(), name, make, end);
    slots.add(slot);
    return slot;
  }

  /** Declares a value that is dropped with its revision. */
  public <T> Slot<T> declare(String name, Function<LiveRevision, ? extends T> make) {
    return declare(name, make, _ -> {
    });
  }

  /** The revision; null if it does not exist. */
  public @Nullable LiveRevision find(RevisionId id) {
    return all.get(id);
  }

  /** The latest state of a revision; null if it does not exist. */
  public @Nullable Revision spec(RevisionId id) {
    var revision = find(id);
    return revision == null ? null : revision.spec();
  }

  /** The value of a revision, which is made if necessary; null if the revision does not exist. */
  public <T> @Nullable T slot(RevisionId id, Slot<T> slot) {
    var revision = find(id);
    return revision == null ? null : revision.slot(slot);
  }

  /** The value of a revision; null if it is not made, or if the revision does not exist. */
  public <T> @Nullable T peek(RevisionId id, Slot<T> slot) {
    var revision = find(id);
    return revision == null ? null : revision.peek(slot);
  }

  public Stream<LiveRevision> all() {
    return all.values().stream();
  }

  /** The values of a slot that are made. */
  public <T> Stream<T> all(Slot<T> slot) {
    return all().map(revision -> revision.peek(slot)).filter(Objects::nonNull);
  }

  /** Ends the values of a slot that are made; the next use of one makes it again. */
  public void clear(Slot<?> slot) {
    all().forEach(revision -> revision.clear(slot));
  }

  /** Begins a revision, or changes its spec. One with another uid ends the one before it. */
  public LiveRevision update(Revision now) {
    var known = find(now.id());
    if (known != null && known.uid().equals(now.uid())) {
      known.update(now);
      return known;
    }
    end(now.id());
    var begun = new LiveRevision(now, loops.apply(now.id()));
    all.put(now.id(), begun);
    return begun;
  }

  /** Ends a revision, if it exists. Returns when all its values have been notified. */
  public void end(RevisionId id) {
    var known = all.remove(id);
    if (known != null) {
      known.end(slots);
    }
  }
}
