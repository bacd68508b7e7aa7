package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.SortedObjects.CacheSnapshot;
import dev.activator.embedded.api.store.StatusException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Writes down what a read is told. */
final class FakeReader {
  private final List<String> received = new ArrayList<>();
  private final CompletableFuture<CacheSnapshot> read;

  FakeReader(CompletableFuture<CacheSnapshot> read) {
    this.read = read;
    read.whenComplete(this::hear);
  }

  void cancel() {
    read.cancel(false);
  }

  /** Such as {@code @9 [default/a@7]}, or {@code 410 too old}. */
  List<String> received() {
    return received;
  }

  private void hear(@Nullable CacheSnapshot snapshot, @Nullable Throwable failure) {
    if (snapshot != null) {
      received.add("@" + snapshot.revision() + " " + FedCache.all(snapshot.objects()));
    } else if (failure instanceof StatusException refused) {
      received.add(refused.code() + " " + refused.getMessage());
    }
  }
}
