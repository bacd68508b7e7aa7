package dev.activator.kube;

import dev.activator.kube.informer.Informer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of a connection to a cluster: it waits until the API can be used, and then for the
 * first lists.
 *
 * <p><b>Source.</b> {@code CheckMinimumKubeVersionOrDie} in {@code knative.dev/pkg}: tries once a
 * second for a minute.
 */
public final class ClusterStartup {
  private static final Logger log = LoggerFactory.getLogger(ClusterStartup.class);

  public interface Beginning {
    CompletableFuture<Void> synced();

    /** The current error, in one line; null if there is none. */
    default @Nullable String error() {
      return null;
    }
  }

  private final Supplier<@Nullable String> check;
  private final Supplier<? extends List<? extends Beginning>> begin;
  private final Duration patience;
  private volatile String problem;
  /**
   * Whether the start was given up. An interrupt is not sufficient, because the check may consume
   * it.
   */
  private volatile boolean abandoned;

  /**
   * @param check returns why the API cannot be used, in one line; null if it can
   * @param patience for how long the check is retried
   */
  public ClusterStartup(String url, Supplier<@Nullable String> check,
      Supplier<? extends List<? extends Beginning>> begin, Duration patience) {
    this.problem = "the Kubernetes API at " + url + " does not answer";
    this.check = check;
    this.begin = begin;
    this.patience = patience;
  }

  public void run() throws InterruptedException {
    awaitApi();
    awaitLists(begin.get());
  }

  private void awaitApi() throws InterruptedException {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> attempts = executor.submit(this::retryUntilUsable);
      try {
        attempts.get(patience.toNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        throw new ClusterUnavailableException(problem);
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getCause());
      } finally {
        // Closing the executor waits for the task, even after an interrupt.
        abandoned = true;
        attempts.cancel(true);
      }
    }
  }

  private @Nullable Void retryUntilUsable() throws InterruptedException {
    for (var now = check.get(); now != null && !abandoned; now = check.get()) {
      if (!now.equals(problem)) {
        log.warn("{}; trying again for {} s", now, patience.toSeconds());
      }
      problem = now;
      new SynchronousQueue<Void>().poll(1, TimeUnit.SECONDS);
    }
    return null;
  }

  /**
   * Waits for the first lists. A slow list may take longer than {@code patience}; a list that fails
   * is only retried for that time.
   */
  private void awaitLists(List<? extends Beginning> lists) throws InterruptedException {
    var synced = lists.stream().map(Beginning::synced).toList();
    while (!Informer.awaitSynced(patience, synced)) {
      for (var list : lists) {
        if (list.synced().isCompletedExceptionally()) {
          throw new IllegalStateException("closed during its start");
        }
        var error = list.error();
        if (error != null && !list.synced().isDone()) {
          throw new ClusterUnavailableException(error);
        }
      }
      log.info("Still waiting for the first lists of Kubernetes objects");
    }
  }
}
