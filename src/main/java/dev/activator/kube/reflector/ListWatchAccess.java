package dev.activator.kube.reflector;

import static java.util.concurrent.CompletableFuture.completedFuture;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;

/** The result of an access check, which tries to list and watch objects. */
public enum ListWatchAccess {
  ALLOWED,
  FORBIDDEN,
  NOT_SERVED;

  private static final int STATUS_FORBIDDEN = 403;
  private static final int STATUS_NOT_FOUND = 404;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int REPEATS = 2;
  private static final Executor LATER = CompletableFuture.delayedExecutor(500,
      TimeUnit.MILLISECONDS);

  /** Tries to list. Fails if the answer is neither a permission nor a refusal. */
  public static CompletableFuture<ListWatchAccess> ofList(KubernetesApiClient api,
      InformerQuery<?> query) {
    return api.get(query.path(Map.of("limit", "1")), TIMEOUT, JsonParser::nextToken)
        .thenApply(_ -> ALLOWED).exceptionally(ListWatchAccess::of);
  }

  /**
   * Tries to list and watch. A refusal counts if {@code others} could be listed before it, or if it
   * is repeated for a second. Fails as {@link #ofList} does, but not if {@code others} do.
   *
   * <p><b>Source.</b> A starting kube-apiserver (1.36) answers 403 to everything for up to 0.3 s,
   * until it has read roles and bindings; then it knows them all.
   *
   * @param others what the caller may list in any case
   */
  public static CompletableFuture<ListWatchAccess> ofListAndWatch(KubernetesApiClient api,
      InformerQuery<?> query, InformerQuery<?> others) {
    return ofListAndWatch(api, query, others, REPEATS);
  }

  private static CompletableFuture<ListWatchAccess> ofListAndWatch(KubernetesApiClient api,
      InformerQuery<?> query, InformerQuery<?> others, int repeats) {
    return ofListAndWatch(api, query).thenCompose(first -> first == ALLOWED || repeats == 0
        ? completedFuture(first)
        : ofList(api, others).handle((known, _) -> known == ALLOWED).thenCompose(known -> known
            ? ofListAndWatch(api, query)
            : CompletableFuture.runAsync(() -> {
            }, LATER).thenCompose(_ -> ofListAndWatch(api, query, others, repeats - 1))));
  }

  private static CompletableFuture<ListWatchAccess> ofListAndWatch(KubernetesApiClient api,
      InformerQuery<?> query) {
    return ofList(api, query)
        .thenCompose(list -> list == ALLOWED ? ofWatch(api, query) : completedFuture(list));
  }

  private static CompletableFuture<ListWatchAccess> ofWatch(KubernetesApiClient api,
      InformerQuery<?> query) {
    var answer = new CompletableFuture<ListWatchAccess>();
    var stream = api.stream(query.path(
        Map.of("watch", "true", "resourceVersion", "0", "timeoutSeconds", "1")), TIMEOUT,
        new LineStream.Listener() {
          @Override
          public void opened() {
            answer.complete(ALLOWED);
          }

          @Override
          public void line(byte[] bytes, int from, int length) {
            // only the status matters
          }

          @Override
          public void chunkRead(Runnable handled) {
            handled.run();
          }

          @Override
          public void ended(@Nullable Throwable failure) {
            answer.completeExceptionally(
                failure == null ? new IllegalStateException("the watch ended") : failure);
          }
        });
    return answer.whenComplete((_, _) -> stream.close()).exceptionally(ListWatchAccess::of);
  }

  private static ListWatchAccess of(Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return switch (cause instanceof KubernetesApiException answer ? answer.status() : 0) {
      case STATUS_FORBIDDEN -> FORBIDDEN;
      case STATUS_NOT_FOUND -> NOT_SERVED;
      default -> throw new CompletionException(failure);
    };
  }
}
