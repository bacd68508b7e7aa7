package dev.activator.cluster.reflector;

import java.time.Duration;

/**
 * How closely a list and watch is looked after.
 *
 * @param alarmAfter how long no watch may be open before there is an alarm; after twice that
 *     everything is listed anew
 * @param verifyAfter how long an open watch may say nothing, bookmarks included, before it is
 *     compared with a fresh list
 * @param auditPeriod how often, give or take a tenth, it is compared anyway
 * @param auditGrace how long the watch has to tell what a fresh list shows
 */
public record ReflectorSettings(Duration alarmAfter, Duration verifyAfter, Duration auditPeriod,
    Duration auditGrace) {
  /** Servers send a bookmark about once a minute. */
  public static final ReflectorSettings DEFAULT = new ReflectorSettings(Duration.ofSeconds(60),
      Duration.ofMinutes(3), Duration.ofMinutes(10), Duration.ofSeconds(10));
}
