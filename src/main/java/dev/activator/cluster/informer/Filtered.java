package dev.activator.cluster.informer;

import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Deleted;
import dev.activator.cluster.informer.Notification.FinalState;
import dev.activator.cluster.informer.Notification.Moment;
import dev.activator.cluster.informer.Notification.Updated;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Lets through what concerns some of the objects. One that comes to be among them is added, one that
 * leaves them is deleted, whatever really happened to it.
 *
 * <p>
 * <b>Threads.</b> Those of a handler. It remembers what it has let through, so one of them serves one
 * registration.
 *
 * <p>
 * <b>Source.</b> {@code FilteringResourceEventHandler} in client-go's
 * {@code tools/cache/controller.go}, which asks the filter about the last state again, and so can
 * keep a deletion from those who were told of the object.
 */
public final class Filtered<T> implements Handler<T> {
  private final Predicate<? super VersionedObject<T>> filter;
  private final Handler<T> next;
  private final Set<String> told = new HashSet<>();

  /**
   * @param filter which objects concern {@code next}
   */
  public Filtered(Predicate<? super VersionedObject<T>> filter, Handler<T> next) {
    this.filter = filter;
    this.next = next;
  }

  @Override
  public void on(Notification<T> notification) {
    switch (notification) {
      case Added<T>(var now, var moment) -> is(now, now, moment);
      case Updated<T>(var before, var now) -> is(before, now, Moment.LATER);
      case Deleted<T>(var last, _) -> {
        if (told.remove(last.key())) {
          next.on(notification);
        }
      }
    }
  }

  private void is(VersionedObject<T> before, VersionedObject<T> now, Moment moment) {
    if (!filter.test(now)) {
      if (told.remove(now.key())) {
        next.on(new Deleted<>(before, FinalState.KNOWN));
      }
    } else if (told.add(now.key())) {
      next.on(new Added<>(now, moment));
    } else {
      next.on(new Updated<>(before, now));
    }
  }
}
