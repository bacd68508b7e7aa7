package dev.activator.cluster.reflector;

import java.time.Duration;

/**
 * Limits after which a reflector raises an alarm or compares its store with a fresh list.
 *
 * @param alarmAfter time without an open watch before an alarm; after twice that, everything is
 * listed again
 * @param verifyAfter silence of an open watch, bookmarks included, before an audit
 * @param auditPeriod of regular audits, plus or minus a tenth
 * @param auditGrace how long the watch has to deliver what a fresh list shows
 */
public record ReflectorSettings(Duration alarmAfter, Duration verifyAfter, Duration auditPeriod,
    Duration auditGrace) {
  /** Servers send a bookmark about once a minute. */
  public static final ReflectorSettings DEFAULT = new ReflectorSettings(Duration.ofSeconds(60),
      Duration.ofMinutes(3), Duration.ofMinutes(10), Duration.ofSeconds(10));
}
