package dev.activator.cluster;

import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumers of one sort of event.
 *
 * <p><b>Threads.</b> Any may add; the caller of {@link #tell} calls all in order.
 *
 * <p><b>Errors.</b> A consumer that throws is logged and misses that event.
 */
final class Listeners<E> {
  private static final Logger log = LoggerFactory.getLogger(Listeners.class);

  private final String sort;
  private final List<Consumer<E>> consumers = new CopyOnWriteArrayList<>();

  /** @param sort of event, for the log */
  Listeners(String sort) {
    this.sort = sort;
  }

  void add(Consumer<E> consumer) {
    consumers.add(consumer);
  }

  void tell(RevisionId about, E event) {
    for (var consumer : consumers) {
      try {
        consumer.accept(event);
      } catch (RuntimeException | Error e) {
        log.error("{}: a consumer failed on its {}", about, sort, e);
      }
    }
  }
}
