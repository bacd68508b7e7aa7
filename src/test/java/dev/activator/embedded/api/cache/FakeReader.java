package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiException;
import java.util.ArrayList;
import java.util.List;

/** Writes down what it is told. */
final class FakeReader implements SnapshotReader {
  private final List<String> told = new ArrayList<>();
  private Reading reading;

  void reading(Reading under) {
    reading = under;
  }

  void cancel() {
    reading.cancel();
  }

  /** Such as {@code @9 [default/a@7]}, or {@code 410 too old}. */
  List<String> told() {
    return told;
  }

  @Override
  public void read(CacheSnapshot snapshot) {
    told.add("@" + snapshot.revision() + " " + snapshot.objects().stream().toList());
  }

  @Override
  public void failed(ApiException failure) {
    told.add(failure.code() + " " + failure.getMessage());
  }
}
