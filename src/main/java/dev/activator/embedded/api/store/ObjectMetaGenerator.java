package dev.activator.embedded.api.store;

import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Generates names, uids and times for new objects of the embedded API. */
final class ObjectMetaGenerator {
  /**
   * The characters of generated names. Vowels are left out, so that names are no words, and so are
   * characters that look alike.
   */
  private static final String SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
  private static final int SUFFIX_LENGTH = 5;
  private static final int BASE_LIMIT = 58;

  private final Clock clock;
  private final RandomGenerator random;

  ObjectMetaGenerator(Clock clock, RandomGenerator random) {
    this.clock = clock;
    this.random = random;
  }

  /** The first revision. It is higher than the revisions of earlier runs. */
  long firstRevision() {
    return Math.multiplyExact(clock.millis(), 1000L);
  }

  String now() {
    return now(0);
  }

  String now(long plusSeconds) {
    return Instant.ofEpochMilli(clock.millis()).plusSeconds(plusSeconds)
        .truncatedTo(ChronoUnit.SECONDS).toString();
  }

  String uid() {
    long high = (random.nextLong() & ~0xF000L) | 0x4000L;
    long low = (random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
    return new UUID(high, low).toString();
  }

  String nameFrom(String base) {
    var name = new StringBuilder(base.substring(0, Math.min(base.length(), BASE_LIMIT)));
    for (int i = 0; i < SUFFIX_LENGTH; i++) {
      name.append(SUFFIX_ALPHABET.charAt(random.nextInt(SUFFIX_ALPHABET.length())));
    }
    return name.toString();
  }
}
