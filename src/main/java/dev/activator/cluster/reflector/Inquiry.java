package dev.activator.cluster.reflector;

import dev.activator.loop.Loop;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks why no watch is open, once in each outage: a watch that is refused is tried again without a
 * word, a list that is refused says why.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the loop, and so is the one about a failure.
 */
final class Inquiry {
  private final Loop loop;
  private final Supplier<CompletableFuture<Void>> glance;
  private final Consumer<Throwable> failed;
  private @Nullable Question asked;

  /** That of one outage; the answer to an earlier one is not heard. */
  private static final class Question {}

  /**
   * @param glance fails as a list would
   * @param failed told why, if there is a reason, before the outage is over
   */
  Inquiry(Loop loop, Supplier<CompletableFuture<Void>> glance, Consumer<Throwable> failed) {
    this.loop = loop;
    this.glance = glance;
    this.failed = failed;
  }

  /** Asks, unless that was done in this outage. */
  void begin() {
    if (asked != null) {
      return;
    }
    var question = new Question();
    asked = question;
    glance.get().whenComplete((_, failure) -> {
      if (failure != null) {
        loop.execute(() -> answered(question, failure));
      }
    });
  }

  /** The outage is over, or nobody wants to know any more. */
  void over() {
    asked = null;
  }

  private void answered(Question question, Throwable failure) {
    if (asked == question) {
      failed.accept(failure);
    }
  }
}
