package dev.activator.embedded.api.cache;

import dev.activator.loop.Loop;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A read that may have to wait.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop, but for {@link #begin} and {@link #cancel}.
 */
final class Read implements Reading {
  /** One that was answered at once. */
  static final Reading DONE = () -> {
  };

  private final Loop loop;
  private FreshnessWaiters.@Nullable Waiter waiter;
  private boolean cancelled;

  Read(Loop loop) {
    this.loop = loop;
  }

  /** Answers on the loop, or waits there. */
  void begin(Supplier<FreshnessWaiters.@Nullable Waiter> look) {
    loop.execute(() -> {
      if (!cancelled) {
        waiter = look.get();
      }
    });
  }

  @Override
  public void cancel() {
    loop.execute(() -> {
      cancelled = true;
      if (waiter != null) {
        waiter.leave();
        waiter = null;
      }
    });
  }
}
