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
   * Tries to list and watch. Only a repeated refusal counts, because a starting server may refuse a
   * request that it allows a moment later.
   */
  public static CompletableFuture<ListWatchAccess> ofListAndWatch(KubernetesApiClient api,
      InformerQuery<?> query) {
    return ofListAndWatch(api, query, REPEATS);
  }

  private static CompletableFuture<ListWatchAccess> ofListAndWatch(KubernetesApiClient api,
      InformerQuery<?> query, int repeats) {
    return ofList(api, query)
        .thenCompose(list -> list == ALLOWED ? ofWatch(api, query) : completedFuture(list))
        .thenCompose(answer -> answer == ALLOWED || repeats == 0
            ? completedFuture(answer)
            : CompletableFuture.runAsync(() -> {
            }, LATER).thenCompose(_ -> ofListAndWatch(api, query, repeats - 1)));
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
          public void chunkRead(Runnable more) {
            more.run();
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
