package dev.activator.embedded.api.cache;

import java.time.Duration;

/**
 * How the caches behave.
 *
 * @param capacity of the event windows
 * @param blockTimeout how long a read waits for the cache to become new enough
 * @param bookmarkPeriod between bookmarks to one watch
 * @param bookmarkLead how long before its end a watch gets a last bookmark
 * @param closeDelay how long a failed watch stays open, so that the failure arrives first
 * @param buffers of watches whose clients do not take their events at once
 */
public record CacheSettings(Capacity capacity, Duration blockTimeout, Duration bookmarkPeriod,
    Duration bookmarkLead, Duration closeDelay, Buffers buffers) {
  /** As in Kubernetes. */
  public static final CacheSettings DEFAULT = new CacheSettings(Capacity.DYNAMIC,
      Duration.ofSeconds(3), Duration.ofSeconds(60), Duration.ofSeconds(2), Duration.ofSeconds(1),
      Buffers.DEFAULT);

  /**
   * How many events a window holds.
   *
   * @param lowest number, with which it starts
   * @param highest number
   * @param fresh how long an event should stay
   */
  public record Capacity(int lowest, int highest, Duration fresh) {
    /** As in Kubernetes: enough for 75 seconds, within bounds. */
    public static final Capacity DYNAMIC = new Capacity(100, 102_400, Duration.ofSeconds(75));

    /** The next size of a full window: larger if its oldest event is fresh, smaller if a fresh quarter would do. */
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
   * <b>Source.</b> {@code suggestedWatchChannelSize} in {@code cacher/watch_cache.go} of Kubernetes'
   * apiserver.
   *
   * @param smallest number for all
   * @param largest number where the kind has no index
   * @param triggered number where an index finds the watch: few events are for it
   * @param untriggered largest number where the kind has an index that does not help this watch
   */
  public record Buffers(int smallest, int largest, int triggered, int untriggered) {
    public static final Buffers DEFAULT = new Buffers(10, 100, 10, 1_000);

    /** About how long a full window lasts when it is as large as it needs to be. */
    private static final int WINDOW_SECONDS = 75;

    /** Whether an index finds a watch. */
    enum Trigger {
      NO_INDEX, USED, UNUSED
    }

    /** The size of a buffer, for a window of this size. */
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
