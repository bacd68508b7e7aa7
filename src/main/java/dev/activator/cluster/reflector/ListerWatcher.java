package dev.activator.cluster.reflector;

import dev.activator.cluster.decode.ApiMessages.Page;
import dev.activator.cluster.decode.ApiMessages.WatchEvent;
import dev.activator.cluster.informer.VersionedObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Lists and watches the objects of one kind.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in, and no call waits. Answers come on threads of its own.
 *
 * <p>
 * <b>Errors.</b> A failure that the API answers with is an {@link ApiException}.
 *
 * <p>
 * <b>Source.</b> {@code ListerWatcher} in client-go's {@code tools/cache/listwatch.go}, and
 * {@code tools/pager/pager.go}.
 */
interface ListerWatcher<T> {
  /** Receives the events of a watch: one call at a time, in order. */
  interface Watcher<T> {
    /** The server accepted it. */
    void opened();

    /**
     * These happened, in this order.
     *
     * @param more to be run when the next may come
     */
    void events(List<WatchEvent<T>> events, Runnable more);

    /** Nothing comes after this. The failure is null if the server ended it regularly. */
    void ended(@Nullable Throwable failure);
  }

  /** A watch that was asked for. */
  interface Watch {
    /** Ends it. Calls that are under way may still come. */
    void close();
  }

  /**
   * One page of the newest state.
   *
   * @param next of the page before; empty for the first
   */
  CompletableFuture<Page<T>> page(String next);

  /** The newest state in one answer, without pages. */
  CompletableFuture<Page<T>> unpaged();

  /** Watches from this version on. */
  Watch watch(String resourceVersion, Watcher<T> watcher);

  /**
   * All pages; one unpaged list if the continue token expired. Cancelling it cancels the request that
   * is under way.
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
    return cause instanceof ApiException answer && answer.isExpired()
        ? cancelledWith(all, unpaged())
        : CompletableFuture.failedFuture(failure);
  }

  /** The request, which is cancelled when the list it is for is. */
  private static <P> CompletableFuture<P> cancelledWith(CompletableFuture<?> list,
      CompletableFuture<P> request) {
    list.whenComplete((_, _) -> request.cancel(false));
    return request;
  }
}
