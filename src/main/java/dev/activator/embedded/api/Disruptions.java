package dev.activator.embedded.api;

import dev.activator.embedded.api.cache.Feed;
import dev.activator.embedded.api.faults.Faults;
import dev.activator.embedded.api.object.Kind;
import dev.activator.embedded.api.object.Kinds;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Faults that hit a server as a whole, or all that read one kind. With no kind named, all are hit.
 * Healing the server's faults undoes these too.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. Each call returns before it has its effect, which comes
 * before that of any write made afterwards.
 *
 * <p>
 * <b>Units.</b> Time is the loop's.
 */
public final class Disruptions {
  private static final Logger log = LoggerFactory.getLogger(Disruptions.class);

  private final Faults faults;
  private final Loop loop;
  private final Feed feed;
  private final ApiListener listener;

  Disruptions(Faults faults, Loop loop, Feed feed, ApiListener listener) {
    this.faults = faults;
    this.loop = loop;
    this.feed = feed;
    this.listener = listener;
  }

  /** For so long, the caches hear nothing of what is written. */
  public void freeze(Duration duration, Kind... kinds) {
    log.info("The caches of {} hear nothing for {}", names(kinds), duration);
    feed.freeze(all(kinds));
    untilHealed(duration, () -> feed.free(all(kinds)));
  }

  /** The caches hear so much later of what is written, until this is healed. */
  public void delay(Duration delay, Kind... kinds) {
    log.info("The caches of {} are {} behind", names(kinds), delay);
    feed.delay(all(kinds), delay);
    faults.remedy(() -> feed.free(all(kinds)));
  }

  /** The caches forget their events: old revisions, exact lists and page tokens get 410. */
  public void compact(Kind... kinds) {
    log.info("The caches of {} forget their events", names(kinds));
    feed.compact(all(kinds));
  }

  /** For so long, the caches have nothing to serve; all watches of them end, others get 429. */
  public void takeDown(Duration duration, Kind... kinds) {
    log.info("The caches of {} are down for {}", names(kinds), duration);
    feed.takeDown(all(kinds));
    untilHealed(duration, () -> feed.fill(all(kinds)));
  }

  /** For so long, connections are refused; those there are are reset. */
  public void refuse(Duration duration) {
    log.info("The embedded Kubernetes API refuses connections for {}", duration);
    listener.shut();
    listener.resetConnections();
    untilHealed(duration, listener::reopen);
  }

  private void untilHealed(Duration duration, Runnable end) {
    var over = new Once(end);
    var remedy = faults.remedy(over);
    loop.schedule(duration, () -> {
      faults.forget(remedy);
      over.run();
    });
  }

  private static List<Kind> all(Kind... kinds) {
    return kinds.length == 0 ? Kinds.all() : List.of(kinds);
  }

  private static String names(Kind... kinds) {
    return kinds.length == 0 ? "all kinds" : List.of(kinds).toString();
  }

  /** Runs a task the first time it is asked to. */
  private static final class Once implements Runnable {
    private final AtomicBoolean done = new AtomicBoolean();
    private final Runnable task;

    Once(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      if (!done.getAndSet(true)) {
        task.run();
      }
    }
  }
}
