package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.WatchCacheSettings.Capacity;

/** Windows whose size does not change. */
public final class Windows {
  private Windows() {}

  public static Capacity fixed(int events) {
    return new Capacity(events, events, Capacity.DYNAMIC.fresh());
  }

  /** The usual settings with a window of this many events. */
  public static WatchCacheSettings of(int events) {
    return of(fixed(events));
  }

  static WatchCacheSettings of(Capacity capacity) {
    var usual = WatchCacheSettings.DEFAULT;
    return new WatchCacheSettings(capacity, usual.blockTimeout(), usual.bookmarkPeriod(),
        usual.bookmarkLead(), usual.closeDelay(), usual.buffers());
  }
}
