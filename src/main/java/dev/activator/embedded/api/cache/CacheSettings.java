package dev.activator.embedded.api.cache;

import java.time.Duration;

/**
 * How the caches behave.
 *
 * @param capacity of the event windows
 * @param blockTimeout how long a read waits for the cache to become new enough
 * @param bookmarkPeriod between bookmarks to one watcher
 * @param bookmarkLead how long before its end a watcher gets a last bookmark
 * @param lingering how long a watch stays open after it failed, so that the failure arrives first
 */
public record CacheSettings(Capacity capacity, Duration blockTimeout, Duration bookmarkPeriod,
    Duration bookmarkLead, Duration lingering) {
  /** As in Kubernetes. */
  public static final CacheSettings DEFAULT = new CacheSettings(Capacity.DYNAMIC,
      Duration.ofSeconds(3), Duration.ofSeconds(60), Duration.ofSeconds(2), Duration.ofSeconds(1));

  private static final int BUFFER_SHARE = 75;
  private static final int SMALLEST_BUFFER = 10;
  private static final int LARGEST_BUFFER = 100;

  /** The same, with another window. */
  public CacheSettings with(Capacity window) {
    return new CacheSettings(window, blockTimeout, bookmarkPeriod, bookmarkLead, lingering);
  }

  /** How many events may wait for one watcher while the window holds this many. */
  static int buffer(int window) {
    int share = Math.ceilDiv(window, BUFFER_SHARE);
    return Math.clamp(share, SMALLEST_BUFFER, LARGEST_BUFFER);
  }
}
