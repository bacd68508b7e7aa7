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
 * @param buffers of watchers that do not take their events at once
 */
public record CacheSettings(Capacity capacity, Duration blockTimeout, Duration bookmarkPeriod,
    Duration bookmarkLead, Duration lingering, Buffers buffers) {
  /** As in Kubernetes. */
  public static final CacheSettings DEFAULT = new CacheSettings(Capacity.DYNAMIC,
      Duration.ofSeconds(3), Duration.ofSeconds(60), Duration.ofSeconds(2), Duration.ofSeconds(1),
      Buffers.DEFAULT);

  /** The same, with another window. */
  public CacheSettings with(Capacity window) {
    return new CacheSettings(window, blockTimeout, bookmarkPeriod, bookmarkLead, lingering,
        buffers);
  }

  /** The same, with other buffers. */
  public CacheSettings with(Buffers watchers) {
    return new CacheSettings(capacity, blockTimeout, bookmarkPeriod, bookmarkLead, lingering,
        watchers);
  }
}
