package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Puts pods to sleep by requests to them, as vLLM understands them: a POST, and a GET that confirms it.
 *
 * <p><b>Source.</b> {@code vllm/entrypoints/serve/sleep/api_router.py}. Both POSTs are idempotent there,
 * and the answer to {@code /sleep} may come before it is asleep.
 */
final class HttpSleep implements PodSleep {
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int OK = 200;
  private static final int MAX_BYTES = 4_096;
  private static final Pattern IS_SLEEPING = Pattern
      .compile("\"is_sleeping\"\\s*:\\s*(true|false)");

  /** Made once it is needed: most installations never do. */
  private static final class Lazy {
    private static final HttpClient CLIENT = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER)
        .connectTimeout(Duration.ofSeconds(5)).build();
  }

  private final Loop loop;

  HttpSleep(Loop loop) {
    this.loop = loop;
  }

  @Override
  public CompletableFuture<String> sleep(List<Destination> pods, IdleTarget target) {
    return all(pods, target, true);
  }

  @Override
  public CompletableFuture<String> wake(List<Destination> pods, IdleTarget target) {
    return all(pods, target, false);
  }

  private CompletableFuture<String> all(List<Destination> pods, IdleTarget target,
      boolean asleep) {
    var first = CompletableFuture.completedFuture("");
    for (var pod : pods) {
      first = first.thenCombine(one(pod, target, asleep), (a, b) -> a.isEmpty() ? b : a);
    }
    return first;
  }

  private CompletableFuture<String> one(Destination pod, IdleTarget target,
      boolean asleep) {
    var calls = target.calls();
    long deadline = loop.nanoTime() + calls.timeout().toNanos();
    var post = HttpRequest.newBuilder(uri(pod, asleep ? calls.sleep() : calls.wake()))
        .timeout(calls.timeout()).POST(BodyPublishers.noBody()).build();
    return send(post).thenCompose(answer -> {
      if (answer.statusCode() != OK) {
        return CompletableFuture.completedFuture("POST " + post.uri() + " was answered with "
            + answer.statusCode());
      }
      return calls.isSleeping().isEmpty()
          ? CompletableFuture.completedFuture("")
          : confirm(uri(pod, calls.isSleeping()), asleep, deadline);
    }).completeOnTimeout("POST " + post.uri() + " had no effect within "
        + calls.timeout().toSeconds() + " s", calls.timeout().toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(failure -> "POST " + post.uri() + " failed: "
            + (failure.getCause() == null ? failure : failure.getCause()));
  }

  private CompletableFuture<String> confirm(URI uri, boolean asleep, long deadline) {
    var left = Duration.ofNanos(Math.max(1, deadline - loop.nanoTime()));
    return send(HttpRequest.newBuilder(uri).timeout(left).build()).thenCompose(answer -> {
      var found = IS_SLEEPING.matcher(answer.body());
      if (answer.statusCode() != OK || !found.find()) {
        return CompletableFuture.completedFuture("GET " + uri + " was answered with "
            + answer.statusCode() + " and no is_sleeping");
      }
      if (Boolean.parseBoolean(found.group(1)) == asleep) {
        return CompletableFuture.completedFuture("");
      }
      var again = new CompletableFuture<String>();
      if (deadline - loop.nanoTime() > 0) {
        loop.schedule(PAUSE, () -> {
          var _ = confirm(uri, asleep, deadline).whenComplete((problem, failure) -> {
            if (failure == null) {
              again.complete(problem);
            } else {
              again.completeExceptionally(failure);
            }
          });
        });
      }
      // Without another attempt the timeout of both says so.
      return again;
    });
  }

  private static CompletableFuture<HttpResponse<String>> send(HttpRequest request) {
    return Lazy.CLIENT.sendAsync(request,
        BodyHandlers.limiting(BodyHandlers.ofString(), MAX_BYTES));
  }

  private static URI uri(Destination pod, String path) {
    return URI.create("http://" + pod + path);
  }
}
