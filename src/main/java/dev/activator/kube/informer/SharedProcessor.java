package dev.activator.kube.informer;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Updated;
import dev.activator.kube.policy.ResyncPeriods;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Distributes the changes of one informer to its handlers, and repeats objects for resyncs.
 *
 * <p><b>Threads.</b> Any thread may add and remove. Between two tasks of the informer's loop, the
 * store equals the distributed changes. So a new listener gets the objects in the store, and then
 * each change.
 *
 * <p><b>Source.</b> client-go's {@code sharedProcessor}, which uses a lock.
 */
final class SharedProcessor<T> {
  private static final class Member<T> {
    final ProcessorListener<T> listener;
    long resyncedNanos;
    boolean due;

    Member(ProcessorListener<T> listener, long nowNanos) {
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
  /** Guards the next three fields. */
  private final Object membership = new Object();
  private final Set<ProcessorListener<T>> listeners = new LinkedHashSet<>();
  private ResyncPeriods periods;
  private boolean closed;
  /** This field and the next are used only on the loop. */
  private final List<Member<T>> members = new ArrayList<>();
  private boolean synced;

  /**
   * @param distributed the informer's store
   * @param check how often due handlers are searched; zero for never
   */
  SharedProcessor(String name, Loop loop, IndexedStore<T> distributed, Duration check) {
    this.name = name;
    this.loop = loop;
    this.distributed = distributed;
    this.periods = ResyncPeriods.of(check);
  }

  InformerHandlerRegistration add(InformerHandler<T> handler, InformerHandlerOptions options) {
    var listener = new ProcessorListener<>(handler, options);
    synchronized (membership) {
      if (closed) {
        throw new IllegalStateException(
            "Handler " + options.name() + " cannot be added: " + name + " is closed");
      }
      periods = periods.with(options.resync());
      listeners.add(listener);
    }
    loop.execute(() -> join(listener));
    return new InformerHandlerRegistration(listener::view, listener.synced(),
        () -> remove(listener));
  }

  /**
   * Starts the processor, which fixes the period of resync checks. Returns that period; zero for
   * never.
   */
  Duration start() {
    synchronized (membership) {
      periods = periods.fixed();
      return periods.check();
    }
  }

  void distribute(InformerNotification<T> change) {
    members.forEach(member -> member.listener.offer(change));
  }

  void resynced(VersionedObject<T> same) {
    for (var member : members) {
      if (member.due) {
        member.listener.offer(new Updated<>(same, same));
      }
    }
  }

  void noneDue() {
    members.forEach(member -> member.due = false);
  }

  /**
   * Marks the handlers that are due for a resync.
   *
   * @return whether there are any
   */
  boolean markDue() {
    var now = periods();
    members.forEach(member -> member
        .markDue(now.effective(member.listener.options().resync()), loop.nanoTime()));
    return members.stream().anyMatch(member -> member.due);
  }

  void initialDistributed() {
    synced = true;
    members.forEach(member -> member.listener.initialOffered());
  }

  void close() {
    synchronized (membership) {
      closed = true;
      listeners.forEach(ProcessorListener::close);
      listeners.clear();
    }
  }

  List<ListenerView> views() {
    synchronized (membership) {
      return listeners.stream().map(ProcessorListener::view).toList();
    }
  }

  private void join(ProcessorListener<T> listener) {
    members.add(new Member<>(listener, loop.nanoTime()));
    distributed.all().forEach(there -> listener.offer(new Added<>(there)));
    if (synced) {
      listener.initialOffered();
    }
  }

  private void remove(ProcessorListener<T> listener) {
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
