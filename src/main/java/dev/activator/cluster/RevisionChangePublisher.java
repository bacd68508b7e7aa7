package dev.activator.cluster;

import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the changes of one kind of value, of which each revision has at most one, to
 * consumers. This is the only place where unchanged values are held back.
 *
 * <p><b>Threads.</b> Any may add and look up. The other methods, which call all consumers in order,
 * are called by one at a time.
 *
 * <p><b>Errors.</b> A consumer that throws is logged and misses that value.
 */
public final class RevisionChangePublisher<E> {
  private static final Logger log = LoggerFactory.getLogger(RevisionChangePublisher.class);

  private final String kind;
  private final List<Consumer<E>> consumers = new CopyOnWriteArrayList<>();
  private final List<Consumer<E>> ofTheEnd = new CopyOnWriteArrayList<>();
  private final Map<RevisionId, E> last = new ConcurrentHashMap<>();

  /** @param kind of value, for the log */
  public RevisionChangePublisher(String kind) {
    this.kind = kind;
  }

  public void add(Consumer<E> consumer) {
    consumers.add(consumer);
  }

  /** @param consumer gets the last value once there is none any more */
  public void addGone(Consumer<E> consumer) {
    ofTheEnd.add(consumer);
  }

  /** The value that consumers have; null if there is none. */
  @Nullable E find(RevisionId about) {
    return last.get(about);
  }

  void changed(RevisionId about, E now) {
    if (!now.equals(last.put(about, now))) {
      call(consumers, about, now);
    }
  }

  /** Reports the value again in a resync, since consumers may have failed. */
  void again(RevisionId about, E now) {
    last.put(about, now);
    call(consumers, about, now);
  }

  void gone(RevisionId about) {
    var known = last.remove(about);
    if (known != null) {
      call(ofTheEnd, about, known);
    }
  }

  private void call(List<Consumer<E>> all, RevisionId about, E value) {
    for (var consumer : all) {
      try {
        consumer.accept(value);
      } catch (RuntimeException | Error e) {
        log.error("{}: a consumer failed on its {}", about, kind, e);
      }
    }
  }
}
