package dev.activator.ext.admit;

import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/**
 * Remembers since when each revision has had ready pods. A gateway that chooses the pod itself
 * learns of the first one only some time later.
 *
 * <p><b>Threads.</b> Any.
 */
final class RevisionReadySince {
  private final Duration delay;
  private final LongSupplier nanoTime;
  private final Map<RevisionId, Long> since = new ConcurrentHashMap<>();
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();

  /** <b>Threads.</b> Any may call. */
  interface Listener {
    /** The revision's first pod is ready. */
    void ready(RevisionId id);

    void gone(RevisionId id);
  }

  /** @param delay after which a gateway knows of the first pod */
  public RevisionReadySince(Duration delay, LongSupplier nanoTime) {
    this.delay = delay;
    this.nanoTime = nanoTime;
  }

  void add(Listener listener) {
    listeners.add(listener);
  }

  public void listed(PrivateEndpoints pods) {
    if (!isReady(pods.http1()) && !isReady(pods.h2c())) {
      since.remove(pods.revision());
    } else if (since.putIfAbsent(pods.revision(), nanoTime.getAsLong()) == null) {
      listeners.forEach(listener -> listener.ready(pods.revision()));
    }
  }

  private static boolean isReady(PodsByReadiness listing) {
    return !listing.ready().minus(listing.ending()).isEmpty();
  }

  public void podsGone(RevisionId id) {
    since.remove(id);
  }

  public void revisionGone(RevisionId id) {
    since.remove(id);
    listeners.forEach(listener -> listener.gone(id));
  }

  /** How long until a gateway knows of a pod; {@link Long#MAX_VALUE} while none is ready. */
  long nanosLeft(RevisionId id) {
    var first = since.get(id);
    return first == null
        ? Long.MAX_VALUE
        : Math.max(0, delay.toNanos() - (nanoTime.getAsLong() - first));
  }
}
