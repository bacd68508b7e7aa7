package dev.activator.embedded.runtime;

import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Points in time as objects have them, to the microsecond: two failures in a second differ. */
final class Timestamps {
  private static final DateTimeFormatter MICROS = DateTimeFormatter
      .ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private Timestamps() {}

  static String now(Clock clock) {
    return MICROS.format(clock.instant());
  }
}
