package dev.activator.cluster;

import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who wants to hear of one sort of news.
 *
 * <p>
 * <b>Threads.</b> Any thread may add a consumer; all are called in their order by whoever tells.
 *
 * <p>
 * <b>Errors.</b> A consumer that throws misses that news, with a line in the log; nobody else does.
 */
public final class Listeners<N> {
  private static final Logger log = LoggerFactory.getLogger(Listeners.class);

  private final String sort;
  private final List<Consumer<N>> consumers = new CopyOnWriteArrayList<>();

  /**
   * @param sort of news, for the log
   */
  public Listeners(String sort) {
    this.sort = sort;
  }

  /** From now on this one hears of it, too. */
  public void add(Consumer<N> consumer) {
    consumers.add(consumer);
  }

  /** Tells all of them. */
  public void tell(RevisionId about, N news) {
    for (var consumer : consumers) {
      try {
        consumer.accept(news);
      } catch (RuntimeException | Error bug) {
        log.error("{}: the news of its {} were not taken", about, sort, bug);
      }
    }
  }
}
