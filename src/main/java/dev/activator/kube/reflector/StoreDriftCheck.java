package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.kube.policy.StoreDrift;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares an informer's store with a fresh list from the API, to find objects whose watch events
 * were lost. An object that differs has drifted if the watch delivers no event for it within the
 * grace period.
 *
 * <p><b>Threads.</b> The loop.
 */
final class StoreDriftCheck {
  private final Loop loop;
  private final Function<Runnable, ? extends CompletableFuture<? extends Page<?>>> list;
  private final Supplier<Map<String, String>> stored;
  private final Duration patience;
  private final Duration grace;
  private final Consumer<Set<String>> compared;
  private final Consumer<Throwable> failed;
  private @Nullable Run running;

  private static final class Run {
    private final Set<String> delivered = new HashSet<>();
    private @Nullable CompletableFuture<?> list;
    private Loop.@Nullable Timer next;
  }

  /**
   * @param list makes a list that is not older than the call, and runs its argument after each page
   * @param stored returns the stored resourceVersion of each key
   * @param patience the longest wait for one page
   * @param grace how long the watch may take to deliver a change that the list contains
   * @param compared gets the keys that have drifted, which may be none. It is not called after
   *     {@link #abandon}, and neither is {@code failed}
   */
  StoreDriftCheck(Loop loop,
      Function<Runnable, ? extends CompletableFuture<? extends Page<?>>> list,
      Supplier<Map<String, String>> stored, Duration patience, Duration grace,
      Consumer<Set<String>> compared, Consumer<Throwable> failed) {
    this.loop = loop;
    this.list = list;
    this.stored = stored;
    this.patience = patience;
    this.grace = grace;
    this.compared = compared;
    this.failed = failed;
  }

  /** Begins a comparison, unless one is running. */
  void begin() {
    if (running != null) {
      return;
    }
    var run = new Run();
    running = run;
    awaitPage(run);
    var request = list.apply(() -> onLoop(run, () -> awaitPage(run)));
    run.list = request;
    request
        .whenComplete((listed, failure) -> onLoop(run, () -> listReceived(run, listed, failure)));
  }

  private void onLoop(Run run, Runnable step) {
    loop.execute(() -> {
      if (running == run) {
        step.run();
      }
    });
  }

  private void awaitPage(Run run) {
    schedule(run, patience, () -> {
      abandon();
      failed.accept(new TimeoutException("no answer within " + patience.toSeconds() + " s"));
    });
  }

  private void schedule(Run run, Duration after, Runnable step) {
    if (run.next != null) {
      run.next.cancel();
    }
    run.next = loop.schedule(after, step);
  }

  /** Records an event of the watch. The list may contain an older state of this key. */
  void delivered(String key) {
    if (running != null) {
      running.delivered.add(key);
    }
  }

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

  private void listReceived(Run run, @Nullable Page<?> listed, @Nullable Throwable failure) {
    if (listed == null) {
      abandon();
      failed.accept(failure == null ? new IllegalStateException("no list was received") : failure);
      return;
    }
    var versions = new HashMap<String, String>();
    listed.items().forEach(one -> versions.put(one.key(), one.resourceVersion()));
    schedule(run, grace, () -> {
      abandon();
      compared.accept(StoreDrift.between(stored.get(), versions, run.delivered));
    });
  }
}
