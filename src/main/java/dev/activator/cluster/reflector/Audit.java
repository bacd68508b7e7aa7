package dev.activator.cluster.reflector;

import dev.activator.cluster.policy.Drift;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares what is stored with a fresh list, now and then. What differs is given time to come by the
 * watch; what has not come by then never will.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the loop, and so is the one to the outcome.
 *
 * <p>
 * <b>Errors.</b> A list that fails ends the comparison, and the outcome is told.
 */
final class Audit {
  private final Loop loop;
  private final Supplier<CompletableFuture<Map<String, String>>> list;
  private final Supplier<Map<String, String>> stored;
  private final Duration grace;
  private final Outcome outcome;
  private @Nullable Run running;

  /** What comes of a comparison that is not abandoned. */
  interface Outcome {
    /** These keys are adrift, which may be none. */
    void compared(Set<String> adrift);

    /** There was nothing to compare with. */
    void failed(Throwable failure);
  }

  /** One comparison: the keys that something was heard of since it began. */
  private record Run(Set<String> heardOf) {}

  /**
   * @param list a list that is not older than the call
   * @param stored what we have, key to resourceVersion
   * @param grace how long the watch has to tell what the list shows
   * @param outcome told what came of it
   */
  Audit(Loop loop, Supplier<CompletableFuture<Map<String, String>>> list,
      Supplier<Map<String, String>> stored, Duration grace, Outcome outcome) {
    this.loop = loop;
    this.list = list;
    this.stored = stored;
    this.grace = grace;
    this.outcome = outcome;
  }

  /** Begins a comparison unless one is under way. */
  void begin() {
    if (running != null) {
      return;
    }
    var run = new Run(new HashSet<>());
    running = run;
    list.get().whenComplete((listed, failure) -> loop.execute(() -> {
      if (running == run) {
        goOn(run, listed, failure);
      }
    }));
  }

  /** Something was heard of this key: what a list says of it may be older. */
  void heardOf(String key) {
    if (running != null) {
      running.heardOf().add(key);
    }
  }

  /** Everything is listed anew: there is nothing to compare any more. */
  void abandon() {
    running = null;
  }

  private void goOn(Run run, @Nullable Map<String, String> listed, @Nullable Throwable failure) {
    if (listed == null) {
      running = null;
      outcome.failed(failure == null ? new IllegalStateException("no list came") : failure);
      return;
    }
    loop.schedule(grace, () -> {
      if (running == run) {
        running = null;
        outcome.compared(Drift.between(stored.get(), listed, run.heardOf()));
      }
    });
  }
}
