package dev.activator.cluster.reflector;

import java.time.Duration;

/**
 * How a list and watch is supervised.
 *
 * @param alarmAfter how long no watch may be open before an alarm is logged; after twice that
 *     everything is listed again
 * @param verifyAfter how long an open watch may be silent, bookmarks included, before the store is
 *     compared with a fresh list
 * @param auditPeriod how often, give or take a tenth, it is compared anyway
 * @param auditGrace how long the watch has to deliver what a fresh list shows
 */
public record ReflectorSettings(Duration alarmAfter, Duration verifyAfter, Duration auditPeriod,
    Duration auditGrace) {
  /** Servers send a bookmark about once a minute. */
  public static final ReflectorSettings DEFAULT = new ReflectorSettings(Duration.ofSeconds(60),
      Duration.ofMinutes(3), Duration.ofMinutes(10), Duration.ofSeconds(10));
}
