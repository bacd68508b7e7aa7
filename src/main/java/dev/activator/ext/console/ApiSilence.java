package dev.activator.ext.console;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Notices, while requests wait, that the Kubernetes API answers no more although its watches are
 * open: packets are dropped, which the kernel reports after 19 s. If no event has come for two
 * seconds, it sends a small read.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Source.</b> client-go sends pings in HTTP/2 at all times, after 30 s without a frame, and
 * waits 15 s for each.
 */
public final class ApiSilence {
  private static final Duration QUIET = Duration.ofSeconds(2);
  public static final Duration TIMEOUT = Duration.ofSeconds(2);
  /** Requests no longer wait if none has been reported for this long. */
  private static final Duration WAIT_ENDED = Duration.ofSeconds(5);

  /** @param sinceNanos when the first read without an answer was sent, by the loop's clock */
  public record Silence(long sinceNanos, String problem) {}

  private final Loop loop;
  private final Supplier<CompletableFuture<?>> read;
  private final Supplier<Duration> sinceEvent;
  private long firstNanos;
  private long lastNanos;
  private boolean waits;
  private boolean reading;
  private long answeredNanos;
  private @Nullable Silence silence;

  /**
   * @param read sends a small read, whose answer may have any status
   * @param sinceEvent the time since the last event of the watches that matter
   */
  public ApiSilence(Loop loop, Supplier<CompletableFuture<?>> read, Supplier<Duration> sinceEvent) {
    this.loop = loop;
    this.read = read;
    this.sinceEvent = sinceEvent;
  }

  /** Call about once a second while requests wait for pods. */
  public void requestsWait() {
    long now = loop.nanoTime();
    if (mayRead(now)) {
      read.get().whenComplete((_, failure) -> answered(now, failure));
    }
  }

  private synchronized boolean mayRead(long now) {
    if (!waits || since(lastNanos, now).compareTo(WAIT_ENDED) > 0) {
      firstNanos = now;
      answeredNanos = now;
      silence = null;
    }
    waits = true;
    lastNanos = now;
    if (reading || since(firstNanos, now).compareTo(QUIET) < 0
        || since(answeredNanos, now).compareTo(QUIET) < 0
        || sinceEvent.get().compareTo(QUIET) < 0) {
      return false;
    }
    reading = true;
    return true;
  }

  private synchronized void answered(long sentNanos, @Nullable Throwable failure) {
    reading = false;
    answeredNanos = loop.nanoTime();
    if (failure == null) {
      silence = null;
    } else if (silence == null) {
      silence = new Silence(sentNanos, problem(failure));
    }
  }

  private static String problem(Throwable failure) {
    var cause = failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
    return cause instanceof TimeoutException
        ? "it does not answer within " + TIMEOUT.toSeconds() + " s"
        : String.valueOf(cause.getMessage());
  }

  /** Null while the API answers, and while no request waits. */
  public synchronized @Nullable Silence now() {
    var known = silence;
    long now = loop.nanoTime();
    return known == null || since(lastNanos, now).compareTo(WAIT_ENDED) > 0
        || sinceEvent.get().compareTo(since(known.sinceNanos, now)) < 0
            ? null
            : known;
  }

  private static Duration since(long nanos, long now) {
    return Duration.ofNanos(now - nanos);
  }
}
