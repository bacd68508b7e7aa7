package dev.activator.cluster.reflector;

import dev.activator.cluster.policy.Backoff;
import dev.activator.cluster.policy.Liveness;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks after a session every few seconds: one that is never open is begun anew, one that is silent
 * is compared with a fresh list, and each is now and then.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the loop.
 */
final class Watchdog {
  private static final Duration LONGEST_TICK = Duration.ofSeconds(5);
  private static final int TICKS_TO_AN_ALARM = 12;
  private static final double AUDIT_JITTER = 0.1;

  private final ReflectorContext upkeep;
  private final Loop loop;
  private final ReflectorStats journal;
  private final Audit audit;
  private final Inquiry inquiry;
  private final Runnable restart;
  private Source.@Nullable Session session;
  private boolean stopped;
  private long openNanos;
  private long restartNanos;
  private long newsNanos;

  /**
   * @param glance fails as a list would
   * @param restart begins a session anew; {@link #watches} is called before it returns
   */
  Watchdog(ReflectorContext upkeep, ReflectorStats journal, Audits audits,
      Supplier<CompletableFuture<Void>> glance,
      Runnable restart) {
    this.upkeep = upkeep;
    this.loop = upkeep.loop();
    this.journal = journal;
    this.audit = audits.reportingTo(new Audited());
    this.inquiry = new Inquiry(loop, glance, this::explained);
    this.restart = restart;
  }

  /** Makes an audit once there is somebody to report to. */
  interface Audits {
    Audit reportingTo(Audit.Outcome outcome);
  }

  void start() {
    openNanos = loop.nanoTime();
    newsNanos = openNanos;
    scheduleTick();
    scheduleAudit();
  }

  void stop() {
    stopped = true;
    session = null;
    audit.abandon();
    inquiry.over();
  }

  /** This is the session now; null while there is none. */
  void watches(Source.@Nullable Session next) {
    session = next;
    restartNanos = loop.nanoTime();
    audit.abandon();
  }

  /** A list begins, which makes up for everything that was missed. */
  void listing() {
    audit.abandon();
  }

  /** A list came, which is news, but does not mean that a watch will be open. */
  void listed() {
    newsNanos = loop.nanoTime();
  }

  /** A list shows another state of this object than was known. */
  void listed(String key) {
    listed();
    audit.heardOf(key);
  }

  /** An event came: a watch is open. */
  void heardOf(String key) {
    listed(key);
    openNanos = newsNanos;
    inquiry.over();
  }

  /** Whether a watch was seen open, or told something, after this time. */
  boolean wasOpenSince(long nanos) {
    return openNanos - nanos > 0;
  }

  private void scheduleTick() {
    var tick = upkeep.settings().alarmAfter().dividedBy(TICKS_TO_AN_ALARM);
    loop.schedule(tick.compareTo(LONGEST_TICK) < 0 ? tick : LONGEST_TICK, () -> {
      if (!stopped) {
        scheduleTick();
        look();
      }
    });
  }

  private void look() {
    long now = loop.nanoTime();
    var looked = session;
    var open = isOpen();
    if (open) {
      openNanos = now;
      inquiry.over();
    }
    var version = looked == null ? null : looked.resourceVersion();
    if (version != null && !version.equals(journal.view().resourceVersion())) {
      newsNanos = now;
      journal.reached(version);
    }
    journal.watching(open);
    act(new Liveness(since(openNanos), since(restartNanos), since(newsNanos)));
  }

  private boolean isOpen() {
    return session != null && session.watching();
  }

  private Duration since(long nanos) {
    return Duration.ofNanos(loop.nanoTime() - nanos);
  }

  private void act(Liveness liveness) {
    var settings = upkeep.settings();
    var reason = "no watch has been open for " + liveness.sinceOpen().toSeconds() + " s";
    switch (liveness.verdict(settings.alarmAfter(), settings.doubtAfter())) {
      case FINE -> {
        // most of the time
      }
      case DOUBTED -> audit.begin();
      case ALARMING -> alarm(reason);
      case HOPELESS -> {
        journal.alarm(reason);
        restart.run();
      }
    }
  }

  private void alarm(String reason) {
    journal.alarm(reason);
    // A session that lists says itself what fails.
    if (isUnexplained() && session != null && session.resourceVersion() != null) {
      inquiry.begin();
    }
  }

  private boolean isUnexplained() {
    return journal.view().health().complaint() == null;
  }

  private void explained(Throwable failure) {
    if (isUnexplained() && !isOpen()) {
      journal.failed(upkeep.complaints().about("list", journal.resource(), failure));
    }
  }

  private void scheduleAudit() {
    var period = Backoff.jittered(upkeep.settings().auditPeriod(), AUDIT_JITTER,
        upkeep.random());
    loop.schedule(period, () -> {
      if (!stopped) {
        scheduleAudit();
        beginAudit();
      }
    });
  }

  private void beginAudit() {
    if (session != null && journal.view().health().listed()) {
      audit.begin();
    }
  }

  /** Whatever comes of a comparison, the next doubt takes as long as the last one. */
  private final class Audited implements Audit.Outcome {
    @Override
    public void compared(Set<String> adrift) {
      newsNanos = loop.nanoTime();
      journal.audited();
      if (!adrift.isEmpty()) {
        journal.drifted(adrift);
        restart.run();
      }
    }

    @Override
    public void failed(Throwable failure) {
      newsNanos = loop.nanoTime();
      journal.auditFailed(upkeep.complaints().about("list", journal.resource(), failure));
    }
  }
}
