package dev.activator.cluster.reflector;

import dev.activator.cluster.informer.DeltaSink;
import dev.activator.cluster.informer.VersionedObject;
import dev.activator.cluster.policy.Backoff;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a mirror as the API is, whatever happens to lists and watches: what ends is begun anew, what
 * is silent is doubted, and what was told is compared with a fresh list now and then.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. The state belongs to the loop, which makes every call to
 * the mirror.
 *
 * <p>
 * <b>Errors.</b> None are thrown. What fails is tried again until {@link #close}, with a line in the
 * log each time it is another failure than before.
 *
 * <p>
 * <b>Source.</b> {@code Reflector} in client-go's {@code tools/cache/reflector.go}, as far as the
 * {@link Source} does not do it; unlike there, what was told is audited.
 */
final class Reflector<T> implements AutoCloseable {
  private final Source<T> source;
  private final Told<T> told;
  private final ReflectorContext upkeep;
  private final Loop loop;
  private final ReflectorStats journal;
  private final Watchdog watchdog;
  private final CompletableFuture<Void> listed = new CompletableFuture<>();

  private @Nullable Following following;
  private boolean closed;
  private int failuresInARow;
  private int quickLists;
  private int refusals;
  private long sparedNanos;

  /**
   * @param resource the plural, such as {@code endpoints}
   * @param mirror what is to be as the API is
   * @param stored what came of it, key to resourceVersion; asked on the loop
   */
  Reflector(String resource, Source<T> source, DeltaSink<T> mirror,
      Supplier<Map<String, String>> stored, ReflectorContext upkeep) {
    this.source = source;
    this.told = new Told<>(mirror);
    this.upkeep = upkeep;
    this.loop = upkeep.loop();
    this.journal = new ReflectorStats(resource);
    this.watchdog = new Watchdog(upkeep, journal,
        outcome -> new Audit(loop, source::versions, stored, upkeep.settings().auditGrace(),
            outcome),
        source::glance, this::restart);
  }

  /** Begins to list and watch. Once. */
  void start() {
    loop.execute(() -> {
      if (!closed) {
        watchdog.start();
        open();
      }
    });
  }

  /** Done when the mirror was told of everything there was at the start. */
  CompletableFuture<Void> listed() {
    return listed;
  }

  /** What is wrong now, in a line; null if all is well. */
  @Nullable String complaint() {
    return view().health().complaint();
  }

  ReflectorView view() {
    return journal.view();
  }

  /** Gives up what is open and begins anew, since something says that it is not to be trusted. */
  void distrust(String reason) {
    loop.execute(() -> {
      if (following != null) {
        journal.alarm(reason);
        following.end(reason);
      }
    });
  }

  /** Ends all listing and watching; the mirror is told nothing any more. Twice is once. */
  @Override
  public void close() {
    loop.execute(() -> {
      closed = true;
      watchdog.stop();
      leave();
    });
  }

  /** With what the last session told, this one tells only what is different. */
  private void open() {
    told.listing();
    var next = new Following(loop.nanoTime());
    following = next;
    try {
      next.session = source.open(told.all(), next);
    } catch (RuntimeException failure) {
      next.ended(failure);
    }
    watchdog.watches(next.session);
  }

  private void leave() {
    var last = following;
    following = null;
    if (last != null) {
      last.left = true;
      if (last.session != null) {
        last.session.close();
      }
    }
  }

  private void restart() {
    leave();
    journal.restarted();
    open();
  }

  private void restartAfter(Duration pause) {
    leave();
    journal.restarted();
    watchdog.watches(null);
    loop.schedule(pause, () -> {
      if (!closed && following == null) {
        open();
      }
    });
  }

  private Duration since(long nanos) {
    return Duration.ofNanos(loop.nanoTime() - nanos);
  }

  /** What one session tells. Once the next one began, it is not heard any more. */
  private final class Following implements Source.Listener<T> {
    private final long openedNanos;
    private int lists;
    private boolean failing;
    private Source.@Nullable Session session;
    private volatile boolean left;

    private Following(long openedNanos) {
      this.openedNanos = openedNanos;
    }

    @Override
    public void listing() {
      onLoop(() -> {
        watchdog.listing();
        told.listing();
        if (lists > 0) {
          spareTheServer();
        }
      });
    }

    @Override
    public void listed(String version) {
      onLoop(() -> {
        if (version.isEmpty()) {
          end("a list came without a resourceVersion");
          return;
        }
        lists++;
        told.listed();
        watchdog.listed();
        journal.listed(version, loop.nanoTime());
        listed.complete(null);
      });
    }

    @Override
    public void put(VersionedObject<T> now) {
      onLoop(() -> {
        if (!told.isListing() && !isComplete(now)) {
          // From here the watch would go on from no version at all, with a gap.
          end("an object came without a name or a resourceVersion: '" + now.key() + "'");
          return;
        }
        heard(now);
        told.put(now);
      });
    }

    @Override
    public void removed(VersionedObject<T> last) {
      onLoop(() -> {
        heard(last);
        told.removed(last);
      });
    }

    @Override
    public void failed(Throwable failure) {
      onLoop(() -> {
        failing = true;
        journal.failed(upkeep.complaints().about("list and watch", journal.resource(), failure));
      });
    }

    @Override
    public void ended(@Nullable Throwable failure) {
      onLoop(() -> end(failure == null ? "no reason given" : failure.toString()));
    }

    private void heard(VersionedObject<T> sighting) {
      if (told.isListing()) {
        watchdog.listed(sighting.key());
        journal.reached(sighting.resourceVersion());
        return;
      }
      failing = false;
      watchdog.heardOf(sighting.key());
      journal.heard(sighting.resourceVersion(), loop.nanoTime());
    }

    private boolean isComplete(VersionedObject<T> sighting) {
      return !sighting.key().isEmpty() && !sighting.resourceVersion().isEmpty();
    }

    private void end(String reason) {
      journal.ended(reason);
      failuresInARow = Backoff.wentWell(since(openedNanos)) ? 0 : failuresInARow;
      restartAfter(Backoff.pause(failuresInARow++, upkeep.random()));
    }

    /** A list right after a list happens when a watch began too late; a third is a storm. */
    private void spareTheServer() {
      boolean quick = Backoff.isTooSoon(since(view().lastListNanos()));
      quickLists = quick ? quickLists + 1 : 0;
      if (quickLists > 1) {
        journal.spared();
        restartAfter(Backoff.breather(refusalsInARow(), upkeep.random()));
      }
    }

    /** Only a watch that is refused makes the pause grow; one that opens and is gone does not. */
    private int refusalsInARow() {
      refusals = failing && !watchdog.wasOpenSince(sparedNanos) ? refusals + 1 : 0;
      sparedNanos = loop.nanoTime();
      return refusals;
    }

    /** What comes after the end is not even queued: the loop may be closed by then. */
    private void onLoop(Runnable step) {
      if (left) {
        return;
      }
      loop.execute(() -> {
        if (following == this) {
          step.run();
        }
      });
    }
  }
}
