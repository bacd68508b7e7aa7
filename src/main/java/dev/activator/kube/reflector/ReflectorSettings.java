package dev.activator.kube.reflector;

import java.time.Duration;

/**
 * The times after which a reflector raises an alarm or compares its store with a fresh list
 * (audit).
 *
 * @param alarmAfter the time without an open watch before an alarm; after twice that time,
 *     everything is listed again
 * @param verifyAfter the time without events and bookmarks of an open watch before an audit
 * @param auditPeriod the period of regular audits, plus or minus a tenth
 * @param auditGrace how long the watch may take to deliver a change that a fresh list contains
 */
public record ReflectorSettings(Duration alarmAfter, Duration verifyAfter, Duration auditPeriod,
    Duration auditGrace) {
  /** The default settings. Servers send a bookmark about once a minute. */
  public static final ReflectorSettings DEFAULT = new ReflectorSettings(Duration.ofSeconds(60),
      Duration.ofMinutes(3), Duration.ofMinutes(10), Duration.ofSeconds(10));
}
