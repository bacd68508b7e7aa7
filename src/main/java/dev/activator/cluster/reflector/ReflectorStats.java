package dev.activator.cluster.reflector;

import dev.activator.cluster.policy.Drift;
import dev.activator.cluster.reflector.ReflectorView.Counts;
import dev.activator.cluster.reflector.ReflectorView.Health;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** <b>Threads.</b> One writer at a time; any may call {@link #view}. */
public final class ReflectorStats {
  private static final Logger log = LoggerFactory.getLogger(ReflectorStats.class);

  private final String resource;
  private Health health = new Health(false, false, false, null);
  private Counts counts = Counts.NONE;
  private long lastListNanos;
  private long lastEventNanos;
  private String resourceVersion = "";
  /** Null while a watch is open. */
  private @Nullable String watchFailure;
  private boolean delayLogged;
  private boolean auditsFail;
  private volatile ReflectorView view;

  ReflectorStats(String resource) {
    this.resource = resource;
    this.view = viewNow();
  }

  ReflectorView view() {
    return view;
  }

  String resource() {
    return resource;
  }

  void heard(String version, long nowNanos) {
    lastEventNanos = nowNanos;
    reached(version);
  }

  void reached(String version) {
    resourceVersion = version;
    publish();
  }

  void listed(String version, long nowNanos) {
    health = new Health(true, health.watching(), health.alarmed(), health.error());
    counts = counts.listed();
    lastListNanos = nowNanos;
    reached(version);
  }

  /** Logs an error once, until a watch opens or another error comes. */
  void failed(String error) {
    if (!Objects.equals(error, health.error())) {
      log.warn("{}; trying again", error);
    }
    health = new Health(health.listed(), health.watching(), health.alarmed(), error);
    counts = counts.failed();
    publish();
  }

  /** Logs nothing before an alarm: losing a watch is normal. */
  void watchFailed(String error) {
    watchFailure = error;
    counts = counts.failed();
    publish();
  }

  void watchEnded() {
    counts = counts.ended();
    publish();
  }

  /** The watch cannot be resumed. */
  void broken(String reason) {
    log.warn("The watch of {} ended; everything is listed again: {}", resource, reason);
    counts = counts.failed();
    publish();
  }

  /** Logged once until a watch opens. */
  void listDelayed() {
    if (!delayLogged) {
      log.warn("The watch of {} fails right after each list; the next list is delayed", resource);
    }
    delayLogged = true;
  }

  void restarted() {
    counts = counts.restarted();
    publish();
  }

  void audited() {
    if (auditsFail) {
      log.info("The stored {} can be compared with a fresh list again", resource);
    }
    auditsFail = false;
  }

  /** Logged once until an audit succeeds. */
  void auditFailed(String error) {
    if (!auditsFail) {
      log.warn("The stored {} cannot be compared with a fresh list: {}", resource, error);
    }
    auditsFail = true;
    counts = counts.auditFailed();
    publish();
  }

  /** Always logged; alarmed until a watch opens. */
  void drifted(Set<String> adrift) {
    log.warn("The stored {} were stale: no watch event came for {}; listing again", resource,
        Drift.named(adrift));
    counts = counts.drifted(adrift.size());
    health = new Health(health.listed(), health.watching(), true, health.error());
    publish();
  }

  /** Logged once until a watch opens. */
  void alarm(String reason) {
    if (!health.alarmed()) {
      log.warn("The stored {} may be stale: {}", resource, reason);
    }
    var why = health.error() == null ? watchFailure : health.error();
    if (why != null && health.error() == null) {
      log.warn("{}; trying again", why);
    }
    health = new Health(health.listed(), health.watching(), true, why);
    publish();
  }

  void watching(boolean open) {
    if (open) {
      opened();
    }
    health = new Health(health.listed(), open, health.alarmed(), health.error());
    publish();
  }

  private void opened() {
    if (health.alarmed() || health.error() != null) {
      log.info("The watch of {} is open again", resource);
    }
    health = new Health(health.listed(), true, false, null);
    watchFailure = null;
    delayLogged = false;
  }

  private void publish() {
    view = viewNow();
  }

  private ReflectorView viewNow() {
    return new ReflectorView(resource, health, counts, lastListNanos, lastEventNanos,
        resourceVersion);
  }
}
