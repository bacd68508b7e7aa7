package dev.activator.kube.reflector;

import dev.activator.kube.policy.StoreDrift;
import dev.activator.kube.reflector.ReflectorStatus.Counts;
import dev.activator.kube.reflector.ReflectorStatus.Gap;
import dev.activator.kube.reflector.ReflectorStatus.Health;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the lists, watches and failures of one reflector, and logs when its state changes.
 *
 * <p><b>Threads.</b> One thread at a time writes; any thread may call {@link #view}.
 */
public final class ReflectorStats {
  private static final Logger log = LoggerFactory.getLogger(ReflectorStats.class);

  private final String resource;
  private final String queried;
  private boolean isListed;
  private boolean isWatching;
  private long closedNanos;
  private boolean isAlarmed;
  private @Nullable String error;
  private long lists;
  private long restarts;
  private long ends;
  private long failures;
  private long drifted;
  private long failedAudits;
  private long lastListNanos;
  private long lastEventNanos;
  private String resourceVersion = "";
  /** The error of the last watch; null while a watch is open. */
  private @Nullable String watchFailure;
  private boolean delayLogged;
  private boolean auditsFail;
  private volatile ReflectorStatus view;

  ReflectorStats(String resource, String queried) {
    this.resource = resource;
    this.queried = queried;
    this.view = viewNow();
  }

  ReflectorStatus view() {
    return view;
  }

  String queried() {
    return queried;
  }

  void delivered(String version, long nowNanos) {
    lastEventNanos = nowNanos;
    reached(version);
  }

  void reached(String version) {
    resourceVersion = version;
    publish();
  }

  void listed(String version, long nowNanos) {
    isListed = true;
    lists++;
    lastListNanos = nowNanos;
    reached(version);
  }

  /** Records a failure. The same error is logged once, until a watch opens. */
  void failed(String now) {
    if (!now.equals(error)) {
      log.warn("{}; trying again", now);
    }
    error = now;
    failures++;
    publish();
  }

  /** Records that a watch failed. This is normal, so it is logged only with an alarm. */
  void watchFailed(String now) {
    watchFailure = now;
    failures++;
    publish();
  }

  void watchEnded() {
    ends++;
    publish();
  }

  /** Records that the watch cannot be resumed. */
  void broken(String reason) {
    log.warn("The watch of {} ended; everything is listed again: {}", resource, reason);
    failures++;
    publish();
  }

  /** Records that the next list is delayed. It is logged once, until a watch opens. */
  void listDelayed() {
    if (!delayLogged) {
      log.warn("The watch of {} fails right after each list; the next list is delayed", resource);
    }
    delayLogged = true;
  }

  void restarted() {
    restarts++;
    publish();
  }

  void audited() {
    if (auditsFail) {
      log.info("The stored {} can be compared with a fresh list again", resource);
    }
    auditsFail = false;
  }

  /** Records that an audit could not list. It is logged once, until an audit succeeds. */
  void auditFailed(String error) {
    if (!auditsFail) {
      log.warn("The stored {} cannot be compared with a fresh list: {}", resource, error);
    }
    auditsFail = true;
    failedAudits++;
    publish();
  }

  /** Records objects that were stale. This is always logged, and an alarm until a watch opens. */
  void drifted(Set<String> adrift) {
    log.warn("The stored {} were stale: no watch event came for {}; listing again", resource,
        StoreDrift.named(adrift));
    drifted += adrift.size();
    isAlarmed = true;
    publish();
  }

  /** Raises an alarm. It is logged once, until a watch opens. */
  void alarm(String reason) {
    if (!isAlarmed) {
      log.warn("The stored {} may be stale: {}", resource, reason);
    }
    if (error == null && watchFailure != null) {
      log.warn("{}; trying again", watchFailure);
      error = watchFailure;
    }
    isAlarmed = true;
    publish();
  }

  void closed(long nowNanos) {
    isWatching = false;
    closedNanos = nowNanos;
    publish();
  }

  void opened() {
    isWatching = true;
    if (isAlarmed || error != null) {
      log.info("The watch of {} is open again", resource);
    }
    isAlarmed = false;
    error = null;
    watchFailure = null;
    delayLogged = false;
    publish();
  }

  private void publish() {
    view = viewNow();
  }

  private ReflectorStatus viewNow() {
    return new ReflectorStatus(resource, new Health(isListed, isWatching, isAlarmed, error, gap()),
        new Counts(lists, restarts, ends, failures, drifted, failedAudits), lastListNanos,
        lastEventNanos, resourceVersion);
  }

  private @Nullable Gap gap() {
    return isWatching ? null : new Gap(closedNanos, watchFailure == null ? error : watchFailure);
  }
}
