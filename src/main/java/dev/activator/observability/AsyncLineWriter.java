package dev.activator.observability;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes lines on a separate thread. Callers never block: if the reader is too slow, lines are
 * dropped and counted.
 */
public final class AsyncLineWriter implements AutoCloseable {
  private static final int MAX_QUEUED_LINES = 16_384;
  private static final int MAX_BATCH_BYTES = 64 << 10;
  @SuppressWarnings("StringOperationCanBeSimplified") // No line may be the same object.
  private static final String END = new String("end");
  /** The time to write the last lines, as in Knative. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  private final BlockingQueue<String> waiting = new ArrayBlockingQueue<>(MAX_QUEUED_LINES);
  private final AtomicLong dropped = new AtomicLong();
  private final OutputStream out;
  private final Thread thread;
  /** The number of lines in the batch. Only the writer's thread uses it. */
  private int lines;

  public AsyncLineWriter(OutputStream out) {
    this.out = out;
    this.thread = Thread.ofPlatform().daemon().name("lines").start(this::run);
  }

  public void write(String line) {
    if (!waiting.offer(line)) {
      dropped.incrementAndGet();
    }
  }

  public long dropped() {
    return dropped.get();
  }

  private void run() {
    var batch = new ByteArrayOutputStream();
    boolean more = true;
    while (more) {
      try {
        more = fill(batch, waiting.take());
        out.write(batch.toByteArray());
        out.flush();
      } catch (InterruptedException e) {
        more = false;
      } catch (IOException e) {
        dropped.addAndGet(lines);
      }
      batch.reset();
      lines = 0;
    }
  }

  private boolean fill(ByteArrayOutputStream batch, String first) {
    for (String line = first; line != null; line = waiting.poll()) {
      if (line == END) { // Compared by identity, because a line may have the same text.
        return false;
      }
      lines++;
      batch.writeBytes(line.getBytes(StandardCharsets.UTF_8));
      if (batch.size() >= MAX_BATCH_BYTES) {
        break;
      }
    }
    return true;
  }

  /** Waits for queued lines, but no longer than the timeout. */
  @Override
  public void close() {
    try {
      if (waiting.offer(END, CLOSE_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
        thread.join(CLOSE_TIMEOUT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
