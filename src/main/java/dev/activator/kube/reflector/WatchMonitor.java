package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.loop.policy.Backoff;
import dev.activator.kube.policy.StoreDrift;
import dev.activator.kube.policy.WatchLiveness;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Monitors the watch of a reflector. It reports when no watch has been open for a second, raises an
 * alarm if that lasts, and then lists again. It audits the store when the watch is silent, and once
 * in each audit period.
 *
 * <p><b>Threads.</b> The loop.
 */
final class WatchMonitor {
  private static final Logger log = LoggerFactory.getLogger(WatchMonitor.class);
  private static final Duration MAX_TICK = Duration.ofSeconds(5);
  private static final int TICKS_TO_AN_ALARM = 12;
  /**
   * The longest gap between two watches that is not reported. A watch that ends regularly is
   * resumed sooner.
   */
  private static final Duration SHORT_GAP = Duration.ofSeconds(1);
  private static final double AUDIT_JITTER = 0.1;

  private final ReflectorContext context;
  private final Loop loop;
  private final ReflectorStats stats;
  private final Function<Runnable, ? extends CompletableFuture<? extends Page<?>>> list;
  private final Supplier<Map<String, String>> stored;
  private final Runnable restart;
  private Loop.@Nullable Timer tick;
  private Loop.@Nullable Timer periodicAudit;
  /** The comparison that is under way; null if there is none. */
  private @Nullable Audit audit;
  private final List<Consumer<Boolean>> listeners = new CopyOnWriteArrayList<>();
  private boolean open;
  /** Whether the listeners were notified that no watch is open. */
  private boolean gapReported;
  private long openNanos;
  private long restartNanos;
  private long newsNanos;

  /**
   * @param list makes a list that is not older than the call, and runs its argument after each page
   * @param stored returns the stored resourceVersion of each key
   */
  WatchMonitor(ReflectorContext context, ReflectorStats stats,
      Function<Runnable, ? extends CompletableFuture<? extends Page<?>>> list,
      Supplier<Map<String, String>> stored, Runnable restart) {
    this.context = context;
    this.loop = context.loop();
    this.stats = stats;
    this.list = list;
    this.stored = stored;
    this.restart = restart;
  }

  void start() {
    openNanos = loop.nanoTime();
    restartNanos = openNanos;
    newsNanos = openNanos;
    stats.closed(openNanos);
    scheduleTick();
    scheduleAudit();
  }

  void stop() {
    if (tick != null) {
      tick.cancel();
    }
    if (periodicAudit != null) {
      periodicAudit.cancel();
    }
    abandonAudit();
  }

  /** A list begins. It replaces a running audit, since it finds the same differences. */
  void listing() {
    abandonAudit();
  }

  /** A list was received. The watch may still fail to open. */
  void listed() {
    newsNanos = loop.nanoTime();
  }

  /** See {@link SharedInformers.Lease#onWatchChange}. */
  void onWatchChange(Consumer<Boolean> listener) {
    listeners.add(listener);
  }

  void opened() {
    open = true;
    openNanos = loop.nanoTime();
    if (gapReported) {
      gapReported = false;
      report(true);
    }
  }

  private void report(boolean isOpen) {
    for (var listener : listeners) {
      try {
        listener.accept(isOpen);
      } catch (RuntimeException e) {
        log.error("A listener of the state of a watch failed", e);
      }
    }
  }

  void closed() {
    if (open) {
      open = false;
      openNanos = loop.nanoTime();
      stats.closed(openNanos);
    }
  }

  void restarted() {
    restartNanos = loop.nanoTime();
  }

  /** The watch has delivered an event or a bookmark. */
  void alive() {
    newsNanos = loop.nanoTime();
  }

  void delivered(String key) {
    alive();
    if (audit != null) {
      // The list may contain an older state of this key.
      audit.delivered.add(key);
    }
  }

  private void scheduleTick() {
    var length = context.settings().alarmAfter().dividedBy(TICKS_TO_AN_ALARM);
    tick = loop.schedule(length.compareTo(MAX_TICK) < 0 ? length : MAX_TICK, () -> {
      scheduleTick();
      check();
    });
  }

  private void check() {
    if (open) {
      openNanos = loop.nanoTime();
    } else if (!gapReported && since(openNanos).compareTo(SHORT_GAP) >= 0) {
      gapReported = true;
      report(false);
    }
    var settings = context.settings();
    var liveness = new WatchLiveness(since(openNanos), since(restartNanos), since(newsNanos));
    switch (liveness.action(settings.alarmAfter(), settings.verifyAfter())) {
      case NONE -> {
        // Nothing is wrong with the watch.
      }
      case VERIFY -> beginAudit();
      case ALARM -> alarm(liveness);
      case RESTART -> {
        alarm(liveness);
        restart.run();
      }
    }
  }

  private void alarm(WatchLiveness liveness) {
    stats.alarm("no watch has been open for " + liveness.sinceOpen().toSeconds() + " s");
  }

  private Duration since(long nanos) {
    return Duration.ofNanos(loop.nanoTime() - nanos);
  }

  private void scheduleAudit() {
    var period = Backoff.jittered(context.settings().auditPeriod(), AUDIT_JITTER,
        context.random());
    periodicAudit = loop.schedule(period, () -> {
      scheduleAudit();
      if (stats.view().health().listed()) {
        beginAudit();
      }
    });
  }

  private void beginAudit() {
    if (audit == null) {
      var begun = new Audit();
      audit = begun;
      begun.begin();
    }
  }

  private void abandonAudit() {
    var abandoned = audit;
    audit = null;
    if (abandoned != null) {
      abandoned.end();
    }
  }

  /**
   * One comparison of the store with a fresh list from the API, to find objects whose watch events
   * were lost. An object that differs has drifted if the watch delivers no event for it within the
   * grace period. The time of silence begins again at the end.
   */
  private final class Audit {
    private final Set<String> delivered = new HashSet<>();
    private @Nullable CompletableFuture<?> request;
    private Loop.@Nullable Timer next;

    void begin() {
      awaitPage();
      var sent = list.apply(() -> onLoop(this::awaitPage));
      request = sent;
      sent.whenComplete((listed, failure) -> onLoop(() -> received(listed, failure)));
    }

    private void onLoop(Runnable step) {
      loop.execute(() -> {
        if (audit == this) {
          step.run();
        }
      });
    }

    private void awaitPage() {
      var patience = context.settings().alarmAfter().multipliedBy(2);
      schedule(patience, () -> failed(
          new TimeoutException("no answer within " + patience.toSeconds() + " s")));
    }

    private void schedule(Duration after, Runnable step) {
      if (next != null) {
        next.cancel();
      }
      next = loop.schedule(after, step);
    }

    private void received(@Nullable Page<?> listed, @Nullable Throwable failure) {
      if (listed == null) {
        failed(failure == null ? new IllegalStateException("no list was received") : failure);
        return;
      }
      var versions = new HashMap<String, String>();
      listed.items().forEach(one -> versions.put(one.key(), one.resourceVersion()));
      schedule(context.settings().auditGrace(), () -> compared(versions));
    }

    private void compared(Map<String, String> listed) {
      abandonAudit();
      newsNanos = loop.nanoTime();
      stats.audited();
      var adrift = StoreDrift.between(stored.get(), listed, delivered);
      if (!adrift.isEmpty()) {
        stats.drifted(adrift);
        restart.run();
      }
    }

    private void failed(Throwable failure) {
      abandonAudit();
      newsNanos = loop.nanoTime();
      stats.auditFailed(context.errors().about("list", stats.queried(), failure));
    }

    void end() {
      if (next != null) {
        next.cancel();
      }
      if (request != null) {
        request.cancel(false);
      }
    }
  }
}
