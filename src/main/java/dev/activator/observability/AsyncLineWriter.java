package dev.activator.observability;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes lines on a separate thread. Callers never block: if the reader is too slow, lines are
 * dropped and counted.
 */
public final class AsyncLineWriter implements AutoCloseable {
  private static final int MAX_QUEUED_LINES = 16_384;
  private static final int MAX_BATCH_BYTES = 64 << 10;
  /** The time to write the last lines, as in Knative. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  private final AtomicLong dropped = new AtomicLong();
  private final OutputStream out;
  private final ThreadPoolExecutor writer = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS,
      new ArrayBlockingQueue<>(MAX_QUEUED_LINES),
      task -> Thread.ofPlatform().daemon().name("lines").unstarted(task),
      (_, _) -> dropped.incrementAndGet());
  // Only the writer's thread uses these.
  private final ByteArrayOutputStream batch = new ByteArrayOutputStream();
  private int lines;

  public AsyncLineWriter(OutputStream out) {
    this.out = out;
  }

  public void write(String line) {
    writer.execute(() -> append(line));
  }

  public long dropped() {
    return dropped.get();
  }

  private void append(String line) {
    batch.writeBytes(line.getBytes(StandardCharsets.UTF_8));
    lines++;
    if (writer.getQueue().isEmpty() || batch.size() >= MAX_BATCH_BYTES) {
      try {
        out.write(batch.toByteArray());
        out.flush();
      } catch (IOException e) {
        dropped.addAndGet(lines);
      }
      batch.reset();
      lines = 0;
    }
  }

  /** Waits for queued lines, but no longer than the timeout. */
  @Override
  public void close() {
    writer.shutdown();
    try {
      var _ = writer.awaitTermination(CLOSE_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
