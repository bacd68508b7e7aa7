package dev.activator.cluster.informer;

import dev.activator.cluster.informer.HandlerOptions.Unchanged;
import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Moment;
import dev.activator.cluster.policy.ResyncPeriods;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Hands each change to every listener, without waiting for any.
 *
 * <p>
 * <b>Threads.</b> Anybody may add and remove. Who listens is known on the controller's loop, where
 * changes are stored and distributed: between two of its tasks the store is exactly what has been
 * distributed, so a listener that comes late is given the store and then every change after it.
 *
 * <p>
 * <b>Errors.</b> Adding to a closed one is refused.
 *
 * <p>
 * <b>Source.</b> {@code sharedProcessor} in client-go's {@code tools/cache/shared_informer.go}, which
 * holds off distribution by a lock while it adds.
 */
public final class SharedProcessor<T> {
  /** A listener that is told, as the loop knows it. */
  private static final class Member<T> {
    final Listener<T> listener;
    long resyncedNanos;
    boolean due;

    Member(Listener<T> listener, long nowNanos) {
      this.listener = listener;
      this.resyncedNanos = nowNanos;
    }

    void markDue(Duration period, long nowNanos) {
      if (!period.isZero() && nowNanos - resyncedNanos >= period.toNanos()) {
        due = true;
        resyncedNanos = nowNanos;
      }
    }
  }

  private final String name;
  private final Loop loop;
  private final IndexedStore<T> distributed;
  private final Object membership = new Object();
  private final Set<Listener<T>> listeners = new LinkedHashSet<>();
  private ResyncPeriods periods;
  private boolean closed;

  /** Those of {@code listeners} that have been given the store. Of the loop, as is the next. */
  private final List<Member<T>> members = new ArrayList<>();
  private boolean synced;

  /**
   * @param loop where changes are stored and distributed
   * @param distributed what listeners have been told, on that loop
   * @param check how often to look for listeners that are due for a resync; zero for never
   */
  public SharedProcessor(String name, Loop loop, IndexedStore<T> distributed, Duration check) {
    this.name = name;
    this.loop = loop;
    this.distributed = distributed;
    this.periods = ResyncPeriods.of(check);
  }

  /** A listener from now on; what is there it is told as added. */
  public Registration add(Handler<T> handler, HandlerOptions listening) {
    var listener = new Listener<>(handler, listening);
    synchronized (membership) {
      if (closed) {
        throw new IllegalStateException(
            "Listener " + listening.name() + " comes too late: " + name + " is closed");
      }
      periods = periods.asked(listening.resync());
      listeners.add(listener);
    }
    loop.execute(() -> join(listener));
    return new Registration(listener::view, listener.synced(), () -> remove(listener));
  }

  /** Fixes how often listeners can be due, and says it; zero for never. */
  public Duration start() {
    synchronized (membership) {
      periods = periods.fixed();
      return periods.check();
    }
  }

  /** Tells everybody. */
  public void distribute(Change<T> change) {
    members.forEach(member -> member.listener.offer(change));
  }

  /** Tells those who want to hear that nothing changed. */
  public void unchanged(Change<T> same) {
    for (var member : members) {
      if (member.listener.listening().unchanged() == Unchanged.TOLD) {
        member.listener.offer(same);
      }
    }
  }

  /** Tells those who are due. */
  public void resynced(Change<T> same) {
    for (var member : members) {
      if (member.due) {
        member.listener.offer(same);
      }
    }
  }

  /** All of the last round has been told. */
  public void noneDue() {
    members.forEach(member -> member.due = false);
  }

  /** Whoever's time has come is due. */
  public boolean markDue() {
    var now = periods();
    members.forEach(member -> member.markDue(
        now.effective(member.listener.listening().resync()), loop.nanoTime()));
    return members.stream().anyMatch(member -> member.due);
  }

  /** The first list has been distributed. */
  public void initialDistributed() {
    synced = true;
    members.forEach(member -> member.listener.initialOffered());
  }

  /** No call of any handler starts after this. */
  public void close() {
    synchronized (membership) {
      closed = true;
      listeners.forEach(Listener::close);
      listeners.clear();
    }
  }

  public List<ListenerView> views() {
    synchronized (membership) {
      return listeners.stream().map(Listener::view).toList();
    }
  }

  private void join(Listener<T> listener) {
    members.add(new Member<>(listener, loop.nanoTime()));
    for (var there : distributed.snapshot().all()) {
      listener.offer(new Change<>(null, new Added<>(there, Moment.INITIAL)));
    }
    if (synced) {
      listener.initialOffered();
    }
  }

  private void remove(Listener<T> listener) {
    listener.close();
    synchronized (membership) {
      listeners.remove(listener);
      if (closed) {
        return;
      }
    }
    loop.execute(() -> members.removeIf(member -> member.listener == listener));
  }

  private ResyncPeriods periods() {
    synchronized (membership) {
      return periods;
    }
  }
}
