package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.CacheSettings.Capacity;

/** Windows whose size does not change. */
public final class Windows {
  private Windows() {}

  public static Capacity fixed(int events) {
    return new Capacity(events, events, Capacity.DYNAMIC.fresh());
  }

  /** The usual settings with a window of this many events. */
  public static CacheSettings of(int events) {
    return of(fixed(events));
  }

  static CacheSettings of(Capacity capacity) {
    var usual = CacheSettings.DEFAULT;
    return new CacheSettings(capacity, usual.blockTimeout(), usual.bookmarkPeriod(),
        usual.bookmarkLead(), usual.closeDelay(), usual.buffers());
  }
}
