package dev.activator.revision;

import dev.activator.loop.Loop;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process knows about one incarnation of a revision: its spec, its loop, and a value of each
 * part of the activator in a typed {@link Slot}. It lives from the first event of the Revision until it
 * is deleted; one that is created again under the same name, with another uid, is another object.
 *
 * <p><b>Threads.</b> Any. A value that exists is read without a lock. It is made under this revision's
 * lock, so its maker must not wait for another thread.
 *
 * <p><b>Errors.</b> A value that is requested after the end is null, as if it had never existed; so
 * no state is created for a deleted revision. An exception of a maker goes to its caller, and the
 * next call makes the value.
 *
 * <p><b>Source.</b> The attributes of Netty's {@code Channel}, which cannot be ended.
 */
public final class LiveRevision {
  private static final Logger log = LoggerFactory.getLogger(LiveRevision.class);
  private static final @Nullable Object[] NONE = {};

  private final Loop loop;
  private volatile Revision spec;
  /** Indexed by slot. A change replaces the array, so that readers need no lock. */
  private volatile @Nullable Object[] values = NONE;
  private boolean ended;

  LiveRevision(Revision spec, Loop loop) {
    this.spec = spec;
    this.loop = loop;
  }

  public RevisionId id() {
    return spec.id();
  }

  public String uid() {
    return spec.uid();
  }

  /** The latest state of the Revision; its id and uid never change. */
  public Revision spec() {
    return spec;
  }

  void update(Revision now) {
    spec = now;
  }

  /** The loop that the id selects, on which events of the revision take effect in order. */
  public Loop loop() {
    return loop;
  }

  /**
   * The value in a slot. The first call makes it; it is made at most once.
   *
   * @return null only if the revision has ended
   */
  public <T> @Nullable T slot(Slot<T> slot) {
    var known = peek(slot);
    return known == null ? make(slot) : known;
  }

  /** The value in a slot; null if it is not made, or if the revision has ended. */
  @SuppressWarnings("unchecked")
  public <T> @Nullable T peek(Slot<T> slot) {
    var known = values;
    return slot.index < known.length ? (T) known[slot.index] : null;
  }

  private synchronized <T> @Nullable T make(Slot<T> slot) {
    var known = peek(slot);
    if (ended || known != null) {
      return known;
    }
    var made = slot.made(this);
    // Copied after the call, which may have made the values of other slots.
    var next = Arrays.copyOf(values, Math.max(values.length, slot.index + 1));
    next[slot.index] = made;
    values = next;
    return made;
  }

  /** Ends the value in a slot, if it is made; its next use makes it again. */
  public synchronized void clear(Slot<?> slot) {
    var value = peek(slot);
    if (value != null) {
      var next = values.clone();
      next[slot.index] = null;
      values = next;
      end(slot, value);
    }
  }

  /** Calls the end of each value that was made, the last declared slot first. Idempotent. */
  void end(List<Slot<?>> slots) {
    @Nullable Object[] made;
    synchronized (this) {
      ended = true;
      made = values;
      values = NONE;
    }
    for (int i = made.length - 1; i >= 0; i--) {
      var value = made[i];
      if (value != null) {
        end(slots.get(i), value);
      }
    }
  }

  private void end(Slot<?> slot, Object value) {
    try {
      slot.end(value);
    } catch (RuntimeException e) {
      log.error("{}: {} failed at the end of the revision", id(), slot, e);
    }
  }

  @Override
  public String toString() {
    return id().toString();
  }
}
