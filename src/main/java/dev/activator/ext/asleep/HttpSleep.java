package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.http.UrlCaller;
import dev.activator.http.UrlCaller.Outcome;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import okhttp3.Dns;
import okhttp3.HttpUrl;

/**
 * Puts pods to sleep by requests to them, as vLLM understands them: a POST, and a GET that confirms it.
 *
 * <p><b>Source.</b> {@code vllm/entrypoints/serve/sleep/api_router.py}. Both POSTs are idempotent there,
 * and the answer to {@code /sleep} may come before it is asleep.
 */
final class HttpSleep implements PodSleep {
  private static final Duration PAUSE = Duration.ofMillis(100);
  /** Requests wait for a pod whose node is gone no longer than that. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final int OK = 200;
  private static final int MAX_BYTES = 4_096;
  private static final Pattern IS_SLEEPING = Pattern
      .compile("\"is_sleeping\"\\s*:\\s*(true|false)");

  private final Loop loop;
  private final UrlCaller urls = new UrlCaller(Dns.SYSTEM, UrlCaller.AddressRule.ANY,
      CONNECT_TIMEOUT);

  HttpSleep(Loop loop) {
    this.loop = loop;
  }

  @Override
  public CompletableFuture<String> sleep(RevisionId id, List<Destination> pods,
      IdleTarget target) {
    return PodSleep.withAll(pods, pod -> one(pod, target, true));
  }

  @Override
  public CompletableFuture<String> wake(RevisionId id, List<Destination> pods,
      IdleTarget target) {
    return PodSleep.withAll(pods, pod -> one(pod, target, false));
  }

  private CompletableFuture<String> one(Destination pod, IdleTarget target,
      boolean asleep) {
    var calls = target.calls();
    long deadline = loop.nanoTime() + calls.timeout().toNanos();
    var url = url(pod, asleep ? calls.sleep() : calls.wake());
    return urls.call("POST", url, Map.of(), calls.timeout(), 0)
        .thenCompose(outcome -> switch (outcome) {
          case Outcome.Answered(var status, _, _) when status == OK -> calls.isSleeping().isEmpty()
              ? CompletableFuture.completedFuture("")
              : confirm(url(pod, calls.isSleeping()), asleep, deadline);
          case Outcome.Answered(var status, _, _) -> CompletableFuture
              .completedFuture("POST " + url + " was answered with " + status);
          case Outcome.Failed(var why, _) -> CompletableFuture
              .completedFuture("POST " + url + " failed: " + why);
        });
  }

  private CompletableFuture<String> confirm(HttpUrl url, boolean asleep, long deadline) {
    long left = deadline - loop.nanoTime();
    var late = url + " does not say in time that it is " + (asleep ? "asleep" : "awake");
    if (left <= 0) {
      return CompletableFuture.completedFuture(late);
    }
    return urls.call("GET", url, Map.of(), Duration.ofNanos(left), MAX_BYTES)
        .thenCompose(outcome -> switch (outcome) {
          case Outcome.Answered(var status, _, var body) -> {
            var found = IS_SLEEPING.matcher(body);
            if (status != OK || !found.find()) {
              yield CompletableFuture.completedFuture("GET " + url + " was answered with "
                  + status + " and no is_sleeping");
            }
            yield Boolean.parseBoolean(found.group(1)) == asleep
                ? CompletableFuture.completedFuture("")
                : PodSleep.pause(loop, PAUSE).thenCompose(_ -> confirm(url, asleep, deadline));
          }
          case Outcome.Failed(var why, _) -> CompletableFuture.completedFuture(
              loop.nanoTime() - deadline >= 0 ? late : "GET " + url + " failed: " + why);
        });
  }

  private static HttpUrl url(Destination pod, String path) {
    return HttpUrl.get("http://" + pod + path);
  }
}
