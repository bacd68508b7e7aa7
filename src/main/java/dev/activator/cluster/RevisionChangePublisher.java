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
 * Publishes one kind of value to consumers. Each revision has at most one such value. A value that
 * has not changed is not published; no other class checks this.
 *
 * <p><b>Threads.</b> Any thread may add consumers and look up values. The other methods call all
 * consumers in order, and must be called by one thread at a time.
 *
 * <p><b>Errors.</b> A consumer that throws is logged and misses that value.
 */
public final class RevisionChangePublisher<E> {
  private static final Logger log = LoggerFactory.getLogger(RevisionChangePublisher.class);

  private final String kind;
  private final List<Consumer<E>> consumers = new CopyOnWriteArrayList<>();
  private final List<Consumer<E>> ofTheEnd = new CopyOnWriteArrayList<>();
  private final Map<RevisionId, E> last = new ConcurrentHashMap<>();

  /** @param kind the name of the kind of value, for the log */
  public RevisionChangePublisher(String kind) {
    this.kind = kind;
  }

  public void add(Consumer<E> consumer) {
    consumers.add(consumer);
  }

  /** @param consumer gets the last value when it is gone */
  public void addGone(Consumer<E> consumer) {
    ofTheEnd.add(consumer);
  }

  /** The value that was published last; null if there is none. */
  @Nullable E find(RevisionId about) {
    return last.get(about);
  }

  void changed(RevisionId about, E now) {
    if (!now.equals(last.put(about, now))) {
      call(consumers, about, now);
    }
  }

  /** Publishes the value again in a resync, since consumers may have failed. */
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
