package dev.activator.kube.reflector;

import dev.activator.loop.Loop;
import dev.activator.loop.policy.RateLimit;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Limits the writes a second of one client of the Kubernetes API. A write waits for its turn. It
 * fails at once if it would wait for longer than its timeout.
 *
 * <p><b>Threads.</b> Any.
 */
public final class KubernetesWriteRateLimiter {
  public static final KubernetesWriteRateLimiter UNLIMITED = new KubernetesWriteRateLimiter(null,
      null);
  /** The minimum timeout. Servers and clients count in milliseconds, and treat 0 as no timeout. */
  private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);

  private final @Nullable Loop loop;
  private final @Nullable RateLimit rate;

  /**
   * The limit that {@code -kube-api-qps} and {@code -kube-api-burst} set.
   *
   * @param perSecond writes a second; 0 for no limit
   * @param burst the number of writes that may be sent at once
   */
  public record Limit(double perSecond, int burst) {
    public static final Limit NONE = new Limit(0, 0);

    /** @param loop the loop whose clock is used */
    public KubernetesWriteRateLimiter rate(Loop loop) {
      return perSecond == 0
          ? UNLIMITED
          : new KubernetesWriteRateLimiter(loop,
              RateLimit.withBurst(perSecond, burst, loop.nanoTime()));
    }
  }

  private KubernetesWriteRateLimiter(@Nullable Loop loop, @Nullable RateLimit rate) {
    this.loop = loop;
    this.rate = rate;
  }

  /** @param request sends the write; it gets the rest of the timeout when its turn comes */
  <R> CompletableFuture<R> send(Duration timeout,
      Function<Duration, CompletableFuture<R>> request) {
    if (loop == null || rate == null) {
      return request.apply(timeout);
    }
    long begun = loop.nanoTime();
    long wait = rate.takeWithin(begun, timeout.minus(MIN_TIMEOUT).toNanos());
    if (wait == 0) {
      return request.apply(timeout);
    }
    if (wait < 0) {
      return late(timeout);
    }
    var turn = new CompletableFuture<Duration>();
    // The loop may run the task late.
    loop.schedule(Duration.ofNanos(wait),
        () -> turn.complete(timeout.minusNanos(loop.nanoTime() - begun)));
    return turn.thenCompose(
        left -> left.compareTo(MIN_TIMEOUT) < 0 ? late(timeout) : request.apply(left));
  }

  private static <R> CompletableFuture<R> late(Duration timeout) {
    return CompletableFuture.failedFuture(
        new TimeoutException("-kube-api-qps allows no write within " + timeout));
  }
}
