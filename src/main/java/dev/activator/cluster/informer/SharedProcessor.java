package dev.activator.cluster.informer;

import dev.activator.cluster.informer.InformerView.ListenerView;
import dev.activator.cluster.informer.HandlerOptions.Unchanged;
import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Moment;
import dev.activator.cluster.informer.Notification.Updated;
import dev.activator.cluster.policy.ResyncPeriods;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Offers each change to every listener.
 *
 * <p>
 * <b>Threads.</b> Any thread may add and remove. Changes are stored and distributed on the
 * informer's loop. Between two of its tasks the store is exactly what has been distributed, so a late
 * listener is offered the store and then every change after it.
 *
 * <p>
 * <b>Errors.</b> Adding to a closed one is refused.
 *
 * <p>
 * <b>Source.</b> {@code sharedProcessor} in client-go's {@code tools/cache/shared_informer.go}, which
 * blocks distribution by a lock while it adds.
 */
final class SharedProcessor<T> {
  /** A listener that has been offered the store. */
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
  /** Guards the next three. */
  private final Object membership = new Object();
  private final Set<Listener<T>> listeners = new LinkedHashSet<>();
  private ResyncPeriods periods;
  private boolean closed;
  /** Of the loop, as is the next. */
  private final List<Member<T>> members = new ArrayList<>();
  private boolean synced;

  /**
   * @param loop where changes are stored and distributed
   * @param distributed what listeners have been told, on that loop
   * @param check how often to look for listeners that are due for a resync; zero for never
   */
  SharedProcessor(String name, Loop loop, IndexedStore<T> distributed, Duration check) {
    this.name = name;
    this.loop = loop;
    this.distributed = distributed;
    this.periods = ResyncPeriods.of(check);
  }

  /** Adds a listener, which is told of every stored object as added. */
  Registration add(Handler<T> handler, HandlerOptions options) {
    var listener = new Listener<>(handler, options);
    synchronized (membership) {
      if (closed) {
        throw new IllegalStateException(
            "Handler " + options.name() + " comes too late: " + name + " is closed");
      }
      periods = periods.asked(options.resync());
      listeners.add(listener);
    }
    loop.execute(() -> join(listener));
    return new Registration(listener::view, listener.synced(), () -> remove(listener));
  }

  /** Fixes how often listeners can be due, and returns it; zero for never. */
  Duration start() {
    synchronized (membership) {
      periods = periods.fixed();
      return periods.check();
    }
  }

  void distribute(Notification<T> change) {
    members.forEach(member -> member.listener.offer(change));
  }

  /** Tells those that want to hear of what a list shows unchanged. */
  void unchanged(VersionedObject<T> same) {
    for (var member : members) {
      if (member.listener.options().unchanged() == Unchanged.TOLD) {
        member.listener.offer(new Updated<>(same, same));
      }
    }
  }

  /** Tells those that are due for a resync. */
  void resynced(VersionedObject<T> same) {
    for (var member : members) {
      if (member.due) {
        member.listener.offer(new Updated<>(same, same));
      }
    }
  }

  /** The last round of resync has been told. */
  void noneDue() {
    members.forEach(member -> member.due = false);
  }

  /** Marks the listeners whose time has come, and returns whether there is one. */
  boolean markDue() {
    var now = periods();
    members.forEach(member -> member
        .markDue(now.effective(member.listener.options().resync()), loop.nanoTime()));
    return members.stream().anyMatch(member -> member.due);
  }

  /** The first list has been distributed. */
  void initialDistributed() {
    synced = true;
    members.forEach(member -> member.listener.initialOffered());
  }

  /** No call of any handler starts after this. */
  void close() {
    synchronized (membership) {
      closed = true;
      listeners.forEach(Listener::close);
      listeners.clear();
    }
  }

  List<ListenerView> views() {
    synchronized (membership) {
      return listeners.stream().map(Listener::view).toList();
    }
  }

  private void join(Listener<T> listener) {
    members.add(new Member<>(listener, loop.nanoTime()));
    distributed.all().forEach(there -> listener.offer(new Added<>(there, Moment.INITIAL)));
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
