package dev.activator.loop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An ordered list of the subscribers to one kind of event.
 *
 * <p><b>Threads.</b> Any thread may subscribe. {@link #publish} calls all subscribers on its caller's
 * thread, in the order in which they were added; who publishes decides which thread that is. A
 * subscriber must not block it.
 *
 * <p><b>Errors.</b> A subscriber that throws is logged by its name and misses that event. The others
 * still get it. An {@link Error} ends the publication.
 *
 * <p><b>Source.</b> The handlers of client-go's shared informers, without a queue for each.
 *
 * @param <T> the event, a value
 */
public final class Topic<T> {
  private static final Logger log = LoggerFactory.getLogger(Topic.class);

  private record Subscriber<T>(String name, Consumer<? super T> action) {}

  private final String name;
  private final List<Subscriber<T>> subscribers = new CopyOnWriteArrayList<>();

  /** @param name what is published, for the log */
  public Topic(String name) {
    this.name = name;
  }

  /**
   * Adds a subscriber after all others. It gets only events that are published from now on.
   *
   * @param subscriber its name, for the log
   */
  public void subscribe(String subscriber, Consumer<? super T> action) {
    subscribers.add(new Subscriber<>(subscriber, action));
  }

  public void publish(T event) {
    for (var subscriber : subscribers) {
      try {
        subscriber.action.accept(event);
      } catch (RuntimeException e) {
        log.error("{}: the subscriber {} failed on {}", name, subscriber.name, event, e);
      }
    }
  }

  /** The names of the subscribers, in the order in which they are called. */
  public List<String> subscribers() {
    return subscribers.stream().map(Subscriber::name).toList();
  }

  /** Such as {@code pods of revisions: backends, coldstarts}. */
  @Override
  public String toString() {
    return name + ": " + String.join(", ", subscribers());
  }
}
