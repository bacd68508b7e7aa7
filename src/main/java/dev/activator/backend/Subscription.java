package dev.activator.backend;

import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * A listener that first gets the current state of each revision.
 *
 * <p>
 * <b>Threads.</b> Called on each revision's loop, in order and never twice with the same state. Any
 * may close; a running call may still arrive.
 */
public final class Subscription implements Consumer<HealthyDestinations>, AutoCloseable {
  private final Consumer<HealthyDestinations> listener;
  private final Consumer<Subscription> remove;

  /** An entry is used only on its revision's loop. */
  private final Map<RevisionId, HealthyDestinations> lastSent = new ConcurrentHashMap<>();
  private volatile boolean closed;

  Subscription(Consumer<HealthyDestinations> listener, Consumer<Subscription> remove) {
    this.listener = listener;
    this.remove = remove;
  }

  @Override
  public void accept(HealthyDestinations now) {
    var before = now.pods().isEmpty()
        ? lastSent.remove(now.revision())
        : lastSent.put(now.revision(), now);
    boolean changed = before == null ? !now.pods().isEmpty() : !before.equals(now);
    if (changed && !closed) {
      listener.accept(now);
    }
  }

  @Override
  public void close() {
    closed = true;
    remove.accept(this);
  }
}
