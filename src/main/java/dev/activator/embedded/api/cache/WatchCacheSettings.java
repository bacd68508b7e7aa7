package dev.activator.embedded.api.cache;

import java.time.Duration;

/**
 * The settings of a watch cache.
 *
 * @param bookmarkLead how long before the end of a watch its last bookmark is sent
 * @param closeDelay the time between a failure and the end of its watch, so that the failure
 *     arrives first
 */
public record WatchCacheSettings(Capacity capacity, Duration blockTimeout, Duration bookmarkPeriod,
    Duration bookmarkLead, Duration closeDelay, Buffers buffers) {
  public static final WatchCacheSettings DEFAULT = new WatchCacheSettings(Capacity.DYNAMIC,
      Duration.ofSeconds(3), Duration.ofSeconds(60), Duration.ofSeconds(2), Duration.ofSeconds(1),
      Buffers.DEFAULT);

  /** @param fresh how long an event should stay in the window */
  public record Capacity(int lowest, int highest, Duration fresh) {
    /** The capacity as in Kubernetes. */
    public static final Capacity DYNAMIC = new Capacity(100, 102_400, Duration.ofSeconds(75));

    /**
     * The next size of a full window. It grows if its oldest event is fresh, and shrinks if a
     * quarter of it holds the fresh events.
     */
    int next(int current, long oldestAgeNanos, long quarterAgeNanos) {
      if (oldestAgeNanos < fresh.toNanos()) {
        return Math.min(2 * current, highest);
      }
      return quarterAgeNanos > fresh.toNanos() ? Math.max(current / 2, lowest) : current;
    }
  }

  /**
   * The limits of the events that are buffered for one watch: about the events of one second.
   *
   * <p><b>Source.</b> {@code suggestedWatchChannelSize} in {@code cacher/watch_cache.go} of
   * Kubernetes' apiserver.
   *
   * @param largest the limit for a kind without indices
   * @param triggered the limit for a watch that an index finds
   * @param untriggered the limit for other watches of a kind with indices
   */
  public record Buffers(int smallest, int largest, int triggered, int untriggered) {
    public static final Buffers DEFAULT = new Buffers(10, 100, 10, 1_000);

    private static final int WINDOW_SECONDS = 75;

    enum Trigger {
      NO_INDEX,
      USED,
      UNUSED
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
