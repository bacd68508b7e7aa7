package dev.activator.cluster;

import dev.activator.cluster.policy.Drift;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares what is stored with a fresh list, now and then. What differs is given time to come by the
 * watch; what has not come by then never will.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the loop, and so is the one to the outcome.
 *
 * <p>
 * <b>Errors.</b> A list that fails ends the comparison without an outcome.
 */
final class Audit {
  private static final Logger log = LoggerFactory.getLogger(Audit.class);

  private final Loop loop;
  private final Supplier<CompletableFuture<Map<String, String>>> list;
  private final Supplier<Map<String, String>> stored;
  private final Duration grace;
  private final Consumer<Set<String>> outcome;
  private @Nullable Run running;

  /** One comparison: the keys that something was heard of since it began. */
  private record Run(Set<String> heardOf) {}

  /**
   * @param list a list that is not older than the call
   * @param stored what we have, key to resourceVersion
   * @param grace how long the watch has to tell what the list shows
   * @param outcome told which keys are adrift, which may be none
   */
  Audit(Loop loop, Supplier<CompletableFuture<Map<String, String>>> list,
      Supplier<Map<String, String>> stored, Duration grace, Consumer<Set<String>> outcome) {
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
      log.debug("No fresh list to compare with", failure);
      running = null;
      return;
    }
    loop.schedule(grace, () -> {
      if (running == run) {
        running = null;
        outcome.accept(Drift.between(stored.get(), listed, run.heardOf()));
      }
    });
  }
}
