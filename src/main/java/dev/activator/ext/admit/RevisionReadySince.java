package dev.activator.ext.admit;

import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers since when each revision has had ready pods. A gateway that chooses the pod itself
 * learns of the first one only some time later.
 *
 * <p><b>Threads.</b> Any.
 */
final class RevisionReadySince {
  private final LiveRevisions revisions;
  private final Duration delay;
  private final LongSupplier nanoTime;
  /** Null while no pod is ready. */
  private final Slot<AtomicReference<@Nullable Long>> slot;
  private final List<Consumer<LiveRevision>> listeners = new CopyOnWriteArrayList<>();

  /** @param delay after which a gateway knows of the first pod */
  RevisionReadySince(LiveRevisions revisions, Duration delay, LongSupplier nanoTime) {
    this.revisions = revisions;
    this.delay = delay;
    this.nanoTime = nanoTime;
    this.slot = revisions.declare("ready since", _ -> new AtomicReference<>());
  }

  /** Adds a listener that is called, on any thread, when a revision's first pod is ready. */
  void onReady(Consumer<LiveRevision> listener) {
    listeners.add(listener);
  }

  void listed(PrivateEndpoints pods) {
    var revision = revisions.find(pods.revision());
    var since = revision == null ? null : revision.slot(slot);
    if (revision == null || since == null) {
      return;
    }
    if (!isReady(pods.http1()) && !isReady(pods.h2c())) {
      since.set(null);
    } else if (since.compareAndSet(null, nanoTime.getAsLong())) {
      listeners.forEach(listener -> listener.accept(revision));
    }
  }

  private static boolean isReady(PodsByReadiness listing) {
    return !listing.ready().minus(listing.ending()).isEmpty();
  }

  void podsGone(RevisionId id) {
    var since = revisions.peek(id, slot);
    if (since != null) {
      since.set(null);
    }
  }

  /** How long until a gateway knows of a pod; {@link Long#MAX_VALUE} while none is ready. */
  long nanosLeft(LiveRevision revision) {
    var since = revision.peek(slot);
    var first = since == null ? null : since.get();
    return first == null
        ? Long.MAX_VALUE
        : Math.max(0, delay.toNanos() - (nanoTime.getAsLong() - first));
  }
}
