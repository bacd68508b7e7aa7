package dev.activator.cluster.informer;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds cached objects that somebody changed. They are shared by all readers and handlers, and an
 * index does not notice.
 *
 * <p>
 * <b>Threads.</b> The controller's loop; the count may be read by any.
 *
 * <p>
 * <b>Source.</b> {@code mutation_detector.go} in client-go, which ends the process; this one logs,
 * each mutation once.
 */
final class MutationDetector<T> {
  private static final Logger log = LoggerFactory.getLogger(MutationDetector.class);

  private record Print<T>(VersionedObject<T> sighting, Object print) {}

  private final Function<? super T, ?> fingerprint;
  private final Map<String, Print<T>> prints = new HashMap<>();
  private volatile long mutated;

  /**
   * @param fingerprint a value that differs if the object does
   */
  MutationDetector(Function<? super T, ?> fingerprint) {
    this.fingerprint = fingerprint;
  }

  /** This is about to be told to others. */
  void stored(Change<T> change) {
    var before = prints.remove(change.key());
    if (before != null) {
      verify(before);
    }
    switch (change.what()) {
      case Notification.Added<T>(var now, _) -> prints.put(now.key(), printed(now));
      case Notification.Updated<T>(_, var now) -> prints.put(now.key(), printed(now));
      case Notification.Deleted<T> _ -> {
      }
    }
  }

  /** Looks at everything that is stored. */
  void check() {
    prints.replaceAll((_, print) -> verify(print));
  }

  /** How many were found. */
  long mutated() {
    return mutated;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written on the loop alone
  private Print<T> verify(Print<T> print) {
    var now = printed(print.sighting());
    if (!now.print().equals(print.print())) {
      mutated++;
      log.error("A handler or reader changed the cached {}: it was {} and is {}",
          print.sighting().key(), print.print(), now.print());
    }
    return now;
  }

  private Print<T> printed(VersionedObject<T> sighting) {
    try {
      return new Print<>(sighting, fingerprint.apply(sighting.object()));
    } catch (RuntimeException | Error failure) {
      return new Print<>(sighting, failure.toString());
    }
  }
}
