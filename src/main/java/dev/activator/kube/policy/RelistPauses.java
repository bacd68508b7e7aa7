package dev.activator.kube.policy;

import dev.activator.loop.policy.Backoff;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The pauses before a reflector lists or watches again.
 *
 * <p><b>Source.</b> client-go's {@code reflector.go}: 0.8 s to 30 s, reset after two minutes
 * without a failure.
 */
public final class RelistPauses {
  private static final Duration MAX = Duration.ofSeconds(30);
  private static final int SHARE_OF_OUTAGE = 12;
  private static final Duration MIN_OF_FREQUENT = Duration.ofSeconds(2);
  private static final Duration MAX_OF_FREQUENT = Duration.ofSeconds(20);

  private RelistPauses() {}

  /** The pauses after failed lists, and before the list that follows a broken watch. */
  public static Backoff ofLists(RandomGenerator random) {
    return new Backoff(Duration.ofMillis(800), MAX, 1.0, random);
  }

  /** The pauses between watches. They start short, as no event arrives until the next watch is open. */
  public static Backoff ofWatches(RandomGenerator random) {
    return new Backoff(Duration.ofMillis(200), MAX, 1.0, random);
  }

  /**
   * The pause before a list if lists follow each other too fast: a twelfth of the outage, from 2 to
   * 20 seconds, plus jitter. So a long outage causes few lists, and a short one delays events only
   * a little.
   */
  public static Duration ofFrequentLists(Duration outage, RandomGenerator random) {
    var share = outage.dividedBy(SHARE_OF_OUTAGE);
    var capped = share.compareTo(MAX_OF_FREQUENT) < 0 ? share : MAX_OF_FREQUENT;
    return Backoff.longer(capped.compareTo(MIN_OF_FREQUENT) < 0 ? MIN_OF_FREQUENT : capped, 0.5,
        random);
  }
}
