package dev.activator.embedded.api.cache;

import java.time.Duration;

/**
 * The settings of a watch cache.
 *
 * @param bookmarkLead before the end of a watch
 * @param closeDelay after a failure, so that it arrives first
 */
public record WatchCacheSettings(Capacity capacity, Duration blockTimeout, Duration bookmarkPeriod,
    Duration bookmarkLead, Duration closeDelay, Buffers buffers) {
  public static final WatchCacheSettings DEFAULT = new WatchCacheSettings(Capacity.DYNAMIC,
      Duration.ofSeconds(3), Duration.ofSeconds(60), Duration.ofSeconds(2), Duration.ofSeconds(1),
      Buffers.DEFAULT);

  /** @param fresh how long an event should stay */
  public record Capacity(int lowest, int highest, Duration fresh) {
    /** The capacity as in Kubernetes. */
    public static final Capacity DYNAMIC = new Capacity(100, 102_400, Duration.ofSeconds(75));

    /** Grows a full window if its oldest event is fresh, shrinks it if a quarter would do. */
    int next(int current, long oldestAgeNanos, long quarterAgeNanos) {
      if (oldestAgeNanos < fresh.toNanos()) {
        return Math.min(2 * current, highest);
      }
      return quarterAgeNanos > fresh.toNanos() ? Math.max(current / 2, lowest) : current;
    }
  }

  /**
   * How many events may wait for one watch: about those of a second.
   *
   * <p><b>Source.</b> {@code suggestedWatchChannelSize} in {@code cacher/watch_cache.go} of
   * Kubernetes' apiserver.
   *
   * @param largest without indices
   * @param triggered for a watch that an index finds
   * @param untriggered the largest for other watches of an indexed kind
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
