package dev.activator.standalone.autoscaler;

import dev.activator.loop.Loop;
import dev.activator.revision.ScaleApiResult;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Limits the number of concurrent reads of scales, since a new leader reads all of them at once.
 * Workloads that need pods are read first.
 *
 * <p><b>Threads.</b> The loop.
 */
final class ScaleReadQueue {
  static final int MAX_READS = 50;

  private final Loop loop;
  private final Deque<Read> urgent = new ArrayDeque<>();
  private final Deque<Read> others = new ArrayDeque<>();
  private int underWay;

  ScaleReadQueue(Loop loop) {
    this.loop = loop;
  }

  /** A read that is queued, under way, or complete. */
  final class Read {
    private final Supplier<CompletableFuture<ScaleApiResult>> request;
    private final CompletableFuture<ScaleApiResult> answer = new CompletableFuture<>();

    private Read(Supplier<CompletableFuture<ScaleApiResult>> request) {
      this.request = request;
    }

    CompletableFuture<ScaleApiResult> answer() {
      return answer;
    }

    /** Moves this read before those of workloads that need no pods. */
    void prioritize() {
      if (others.remove(this)) {
        urgent.add(this);
      }
    }

    /** Removes the read from the queue. Returns false if it was sent already. */
    boolean cancel() {
      return others.remove(this) || urgent.remove(this);
    }
  }

  Read read(boolean isUrgent, Supplier<CompletableFuture<ScaleApiResult>> request) {
    var read = new Read(request);
    (isUrgent ? urgent : others).add(read);
    next();
    return read;
  }

  private void next() {
    while (underWay < MAX_READS) {
      var read = urgent.isEmpty() ? others.poll() : urgent.poll();
      if (read == null) {
        return;
      }
      underWay++;
      var _ = begin(read).whenComplete((answer, failure) -> {
        loop.execute(() -> {
          underWay--;
          next();
        });
        if (failure == null) {
          read.answer.complete(answer);
        } else {
          read.answer.completeExceptionally(failure);
        }
      });
    }
  }

  /** Begins a read. An exception becomes the result of this read, so that the others continue. */
  private static CompletableFuture<ScaleApiResult> begin(Read read) {
    try {
      return read.request.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
