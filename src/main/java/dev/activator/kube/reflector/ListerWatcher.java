package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.kube.informer.VersionedObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Lists and watches one kind of objects.
 *
 * <p><b>Threads.</b> Any thread may call, and no call waits. Results arrive on other threads.
 *
 * <p><b>Errors.</b> A {@link KubernetesApiException} if the API answers with a failure.
 *
 * <p><b>Source.</b> client-go's {@code ListerWatcher} and {@code pager.go}.
 */
interface ListerWatcher<T> {
  /** Receives the events of a watch. Calls come one at a time, in order. */
  interface Watcher<T> {
    void opened();

    /** @param handled must be run when the events are handled; only one other call comes until then */
    void events(List<WatchEvent<T>> events, Runnable handled);

    /**
     * The watch has ended; this is the last call. The failure is null if the server ended the watch
     * regularly.
     */
    void ended(@Nullable Throwable failure);
  }

  interface Watch {
    /** Ends the watch. Calls that are under way may still arrive. */
    void close();
  }

  /** @param next the continue token; empty for the first page */
  CompletableFuture<Page<T>> page(String next);

  CompletableFuture<Page<T>> unpaged();

  Watch watch(String resourceVersion, Watcher<T> watcher);

  /**
   * Lists all pages. If a continue token expires, everything is listed once more without pages.
   * Cancelling the result cancels the current request.
   *
   * @param progress called after each page but the last
   */
  default CompletableFuture<Page<T>> list(Runnable progress) {
    var all = new CompletableFuture<Page<T>>();
    cancelledWith(all, page("")).thenCompose(first -> first.next().isEmpty()
        ? CompletableFuture.completedFuture(first)
        : rest(all, first, new ArrayList<>(first.items()), first.next(), progress)
            .exceptionallyCompose(failure -> unpagedIfExpired(all, failure)))
        .whenComplete((pages, failure) -> {
          if (failure == null) {
            all.complete(pages);
          } else {
            all.completeExceptionally(failure);
          }
        });
    return all;
  }

  private CompletableFuture<Page<T>> rest(CompletableFuture<Page<T>> all, Page<T> first,
      List<VersionedObject<T>> items, String next, Runnable progress) {
    if (next.isEmpty()) {
      return CompletableFuture.completedFuture(new Page<>(items, first.resourceVersion(), ""));
    }
    progress.run();
    return cancelledWith(all, page(next)).thenCompose(page -> {
      items.addAll(page.items());
      return rest(all, first, items, page.next(), progress);
    });
  }

  private CompletableFuture<Page<T>> unpagedIfExpired(CompletableFuture<Page<T>> all,
      Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof KubernetesApiException answer && answer.isExpired()
        ? cancelledWith(all, unpaged())
        : CompletableFuture.failedFuture(failure);
  }

  private static <P> CompletableFuture<P> cancelledWith(CompletableFuture<?> list,
      CompletableFuture<P> request) {
    list.whenComplete((_, _) -> request.cancel(false));
    return request;
  }
}
