package dev.activator.cluster.reflector;

import dev.activator.cluster.decode.ApiMessages.Page;
import dev.activator.cluster.policy.Drift;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares the store with a fresh list. An object that differs has drifted if the watch delivers no
 * event of it within the grace period.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the loop, and so is the one to the outcome.
 *
 * <p>
 * <b>Errors.</b> A list that fails ends the comparison, and the outcome is told.
 */
final class Audit {
  private final Loop loop;
  private final Function<Runnable, ? extends CompletableFuture<? extends Page<?>>> list;
  private final Supplier<Map<String, String>> stored;
  private final Duration patience;
  private final Duration grace;
  private final Outcome outcome;
  private @Nullable Run running;

  /** Receives the result of a comparison that is not abandoned. */
  interface Outcome {
    /** These keys have drifted; may be empty. */
    void compared(Set<String> adrift);

    /** No fresh list came. */
    void failed(Throwable failure);
  }

  /** One comparison. */
  private static final class Run {
    /** The keys that the watch delivered since it began. */
    private final Set<String> heardOf = new HashSet<>();
    private @Nullable CompletableFuture<?> list;
    private Loop.@Nullable Timer next;
  }

  /**
   * @param list a list that is not older than the call; runs its argument with each page
   * @param stored key to resourceVersion of what is stored
   * @param patience how long one page may take
   * @param grace how long the watch has to deliver what the list shows
   * @param outcome receives the result
   */
  Audit(Loop loop, Function<Runnable, ? extends CompletableFuture<? extends Page<?>>> list,
      Supplier<Map<String, String>> stored, Duration patience, Duration grace, Outcome outcome) {
    this.loop = loop;
    this.list = list;
    this.stored = stored;
    this.patience = patience;
    this.grace = grace;
    this.outcome = outcome;
  }

  /** Begins a comparison unless one is under way. */
  void begin() {
    if (running != null) {
      return;
    }
    var run = new Run();
    running = run;
    awaitPage(run);
    var asked = list.apply(() -> on(run, () -> awaitPage(run)));
    run.list = asked;
    asked.whenComplete((listed, failure) -> on(run, () -> goOn(run, listed, failure)));
  }

  /** Does this on the loop if the comparison has not ended by then. */
  private void on(Run run, Runnable step) {
    loop.execute(() -> {
      if (running == run) {
        step.run();
      }
    });
  }

  private void awaitPage(Run run) {
    schedule(run, patience, () -> {
      abandon();
      outcome.failed(new TimeoutException("no answer within " + patience.toSeconds() + " s"));
    });
  }

  private void schedule(Run run, Duration after, Runnable step) {
    if (run.next != null) {
      run.next.cancel();
    }
    run.next = loop.schedule(after, step);
  }

  /** The watch delivered this key: a list may show an older state of it. */
  void heardOf(String key) {
    if (running != null) {
      running.heardOf.add(key);
    }
  }

  /** Ends the comparison, if there is one, without a result. */
  void abandon() {
    var run = running;
    running = null;
    if (run != null) {
      if (run.next != null) {
        run.next.cancel();
      }
      if (run.list != null) {
        run.list.cancel(false);
      }
    }
  }

  private void goOn(Run run, @Nullable Page<?> listed, @Nullable Throwable failure) {
    if (listed == null) {
      abandon();
      outcome.failed(failure == null ? new IllegalStateException("no list came") : failure);
      return;
    }
    var versions = new HashMap<String, String>();
    listed.items().forEach(one -> versions.put(one.key(), one.resourceVersion()));
    schedule(run, grace, () -> {
      abandon();
      outcome.compared(Drift.between(stored.get(), versions, run.heardOf));
    });
  }
}
