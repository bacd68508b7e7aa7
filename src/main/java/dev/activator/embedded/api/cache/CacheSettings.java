package dev.activator.embedded.api.cache;

import java.time.Duration;

/**
 * @param capacity of the event windows
 * @param blockTimeout how long a read waits for the cache to become new enough
 * @param bookmarkLead before the end of a watch
 * @param closeDelay how long a failed watch stays open, so that the failure arrives first
 */
public record CacheSettings(Capacity capacity, Duration blockTimeout, Duration bookmarkPeriod,
    Duration bookmarkLead, Duration closeDelay, Buffers buffers) {
  /** As in Kubernetes. */
  public static final CacheSettings DEFAULT = new CacheSettings(Capacity.DYNAMIC,
      Duration.ofSeconds(3), Duration.ofSeconds(60), Duration.ofSeconds(2), Duration.ofSeconds(1),
      Buffers.DEFAULT);

  /**
   * The number of events in a window.
   *
   * @param fresh how long an event should stay
   */
  public record Capacity(int lowest, int highest, Duration fresh) {
    /** As in Kubernetes. */
    public static final Capacity DYNAMIC = new Capacity(100, 102_400, Duration.ofSeconds(75));

    /**
     * For a full window: larger if its oldest event is fresh, smaller if a fresh quarter would do.
     */
    int next(int current, long oldestAgeNanos, long quarterAgeNanos) {
      if (oldestAgeNanos < fresh.toNanos()) {
        return Math.min(2 * current, highest);
      }
      return quarterAgeNanos > fresh.toNanos() ? Math.max(current / 2, lowest) : current;
    }
  }

  /**
   * How many events may wait for one watch: about those of a second, within bounds.
   *
   * <p>
   * <b>Source.</b> {@code suggestedWatchChannelSize} in {@code cacher/watch_cache.go} of
   * Kubernetes' apiserver.
   *
   * @param largest for a kind without indices
   * @param triggered for a watch that an index finds: few events match
   * @param untriggered the largest for other watches of a kind with indices
   */
  public record Buffers(int smallest, int largest, int triggered, int untriggered) {
    public static final Buffers DEFAULT = new Buffers(10, 100, 10, 1_000);

    /** The time that a full window of the right size covers. */
    private static final int WINDOW_SECONDS = 75;

    /** Whether an index finds a watch. */
    enum Trigger {
      NO_INDEX, USED, UNUSED
    }

    int size(int window, Trigger trigger) {
      int most = switch (trigger) {
        case NO_INDEX -> largest;
        case USED -> triggered;
        case UNUSED -> untriggered;
      };
      return Math.clamp(Math.ceilDiv(window, WINDOW_SECONDS), Math.min(smallest, most), most);
    }
  }
}
