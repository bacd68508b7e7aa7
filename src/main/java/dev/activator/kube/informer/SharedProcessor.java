package dev.activator.kube.informer;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Updated;
import dev.activator.loop.Loop;
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
  private final String name;
  private final Loop loop;
  private final IndexedStore<T> distributed;
  /** Guards the next two fields. */
  private final Object membership = new Object();
  private final Set<ProcessorListener<T>> listeners = new LinkedHashSet<>();
  private boolean closed;
  /** This field and the next are used only on the loop. */
  private final List<ProcessorListener<T>> members = new ArrayList<>();
  private boolean synced;

  /** @param distributed the informer's store */
  SharedProcessor(String name, Loop loop, IndexedStore<T> distributed) {
    this.name = name;
    this.loop = loop;
    this.distributed = distributed;
  }

  InformerHandlerRegistration add(InformerHandler<T> handler, InformerHandlerOptions options) {
    var listener = new ProcessorListener<>(handler, options);
    synchronized (membership) {
      if (closed) {
        throw new IllegalStateException(
            "Handler " + options.name() + " cannot be added: " + name + " is closed");
      }
      listeners.add(listener);
    }
    loop.execute(() -> join(listener));
    return new InformerHandlerRegistration(listener::view, listener.synced(),
        () -> remove(listener));
  }

  void distribute(InformerNotification<T> change) {
    members.forEach(member -> member.offer(change));
  }

  /** Whether a handler gets objects again. */
  boolean hasResynced() {
    return members.stream().anyMatch(member -> member.options().resynced());
  }

  void resynced(VersionedObject<T> same) {
    members.stream().filter(member -> member.options().resynced())
        .forEach(member -> member.offer(new Updated<>(same, same)));
  }

  void initialDistributed() {
    synced = true;
    members.forEach(ProcessorListener::initialOffered);
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
    members.add(listener);
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
    loop.execute(() -> members.remove(listener));
  }
}
