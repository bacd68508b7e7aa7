package dev.activator.backend;

import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Somebody who came later, and is first told what holds already.
 *
 * <p>
 * <b>Threads.</b> Told on each revision's loop, of each revision in order and nothing twice. Any
 * thread may close; a word that was on its way may come after that.
 */
public final class Follower implements Consumer<HealthyDestinations>, AutoCloseable {
  private final Consumer<HealthyDestinations> listener;
  private final Consumer<Follower> leave;

  /** What was told last; an entry is used on its revision's loop alone. */
  private final Map<RevisionId, HealthyDestinations> told = new ConcurrentHashMap<>();
  private volatile boolean closed;

  Follower(Consumer<HealthyDestinations> listener, Consumer<Follower> leave) {
    this.listener = listener;
    this.leave = leave;
  }

  @Override
  public void accept(HealthyDestinations now) {
    var before = now.pods().isEmpty()
        ? told.remove(now.revision())
        : told.put(now.revision(), now);
    boolean isNews = before == null ? !now.pods().isEmpty() : !before.equals(now);
    if (isNews && !closed) {
      listener.accept(now);
    }
  }

  @Override
  public void close() {
    closed = true;
    leave.accept(this);
  }
}
