package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiException;

/** Is given a state that is new enough, or the reason why not; one of them, once. */
public interface SnapshotReader {
  void read(CacheSnapshot snapshot);

  void failed(ApiException failure);
}
