package dev.activator.cluster;

import dev.activator.cluster.decode.Item;
import dev.activator.cluster.informer.Handler;
import dev.activator.cluster.informer.Notification;
import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Deleted;
import dev.activator.cluster.informer.Notification.Updated;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What objects mean, as they change. Only a change of the meaning is told; an object that becomes
 * malformed keeps the meaning it had.
 *
 * <p>
 * <b>Threads.</b> One at a time calls; the listener is called within them.
 *
 * @param <F> what an object means
 */
public final class FactHandler<F, I extends Item<F>> implements Handler<I> {
  private static final Logger log = LoggerFactory.getLogger(FactHandler.class);

  /** Told of each change, with null for "nothing": an object that came or went. */
  @FunctionalInterface
  public interface Listener<F> {
    void changed(@Nullable F before, @Nullable F now);
  }

  private final Listener<F> listener;
  private final Map<String, F> told = new HashMap<>();
  /** What was said of objects that are not as they should be. */
  private final Map<String, List<String>> said = new HashMap<>();

  FactHandler(Listener<F> listener) {
    this.listener = listener;
  }

  @Override
  public void on(Notification<I> notification) {
    switch (notification) {
      case Added<I>(var now, _) -> seen(now.object());
      case Updated<I>(var before, var now) -> {
        if (!before.uid().equals(now.uid()) && now.object().problem() != null) {
          // What the malformed one has to say is not known, but the one before it is gone.
          change(now.key(), null);
        }
        seen(now.object());
      }
      case Deleted<I>(_, var last, _) -> {
        said.remove(last.key());
        change(last.key(), null);
      }
    }
  }

  private void seen(I item) {
    complain(item);
    if (item.problem() == null) {
      change(item.key(), item.fact());
    }
  }

  /** Once, however often the object changes, until there is something else to say. */
  private void complain(I item) {
    var problem = item.problem();
    var now = new LinkedHashSet<String>();
    item.remarks().forEach(remark -> now
        .add("Left out of " + item.getKind() + " " + item.key() + ": " + remark));
    if (problem != null) {
      now.add("Skipped " + item.getKind() + " " + item.key() + ": " + problem);
    }
    var before = now.isEmpty() ? said.remove(item.key()) : said.put(item.key(), List.copyOf(now));
    var already = before == null ? List.<String>of() : before;
    now.stream().filter(line -> !already.contains(line)).forEach(line -> log.warn("{}", line));
  }

  private void change(String key, @Nullable F now) {
    var before = now == null ? told.remove(key) : told.put(key, now);
    if (!Objects.equals(before, now)) {
      listener.changed(before, now);
    }
  }
}
