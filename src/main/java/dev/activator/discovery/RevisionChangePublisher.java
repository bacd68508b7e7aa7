package dev.activator.discovery;

import dev.activator.loop.Topic;
import dev.activator.revision.RevisionId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Publishes one kind of value. Each revision has at most one such value. A value that has not changed
 * is not published; no other class checks this.
 *
 * <p><b>Threads.</b> Any thread may look up values. The other methods call all subscribers, and must
 * be called by one thread at a time.
 */
public final class RevisionChangePublisher<E> {
  private final Topic<E> changes;
  private final Topic<E> ends;
  private final Map<RevisionId, E> last = new ConcurrentHashMap<>();

  /** @param kind the name of the kind of value, for the log */
  public RevisionChangePublisher(String kind) {
    this.changes = new Topic<>(kind);
    this.ends = new Topic<>("end of " + kind);
  }

  /**
   * @param empty makes the value that is published when a value is gone; for consumers that treat both
   *     alike
   */
  public RevisionChangePublisher(String kind, UnaryOperator<E> empty) {
    this(kind);
    ends.subscribe("changes", last -> changes.publish(empty.apply(last)));
  }

  public Topic<E> changes() {
    return changes;
  }

  /** Publishes the last value of a revision when it is gone. */
  public Topic<E> ends() {
    return ends;
  }

  /** The value that was published last; null if there is none. */
  public @Nullable E find(RevisionId about) {
    return last.get(about);
  }

  public void changed(RevisionId about, E now) {
    if (!now.equals(last.put(about, now))) {
      changes.publish(now);
    }
  }

  /** Publishes the value again in a resync, since consumers may have failed. */
  public void again(RevisionId about, E now) {
    last.put(about, now);
    changes.publish(now);
  }

  /** Publishes the value again, if there is one, to subscribers that could not use it before. */
  void republish(RevisionId about) {
    var known = last.get(about);
    if (known != null) {
      changes.publish(known);
    }
  }

  public void gone(RevisionId about) {
    var known = last.remove(about);
    if (known != null) {
      ends.publish(known);
    }
  }
}
