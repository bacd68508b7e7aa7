package dev.activator.testing.activators;

import dev.activator.testing.activators.SharedRevision.Activator;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Callers with one request at a time each: one that runs for 20 to 100 ms, then a pause of up to 60 ms.
 *
 * <p><b>Threads.</b> Any. Each caller has its own.
 */
public final class Callers implements AutoCloseable {
  private static final int SHORTEST = 20;
  private static final int LONGEST = 100;
  private static final int PAUSE = 60;
  private static final int TIMEOUT_MILLIS = 60_000;

  /** How long a request was not at its pod, and when it ended. */
  public record Wait(long nanos, long endedNanos) {}

  private final IntFunction<Activator> target;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final List<Thread> threads = new ArrayList<>();
  private final ConcurrentLinkedQueue<Wait> waits = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<String> lost = new ConcurrentLinkedQueue<>();
  private final AtomicInteger inKilled = new AtomicInteger();

  /** @param target which activator a caller, by its number, sends its next request to */
  public Callers(int count, IntFunction<Activator> target) {
    this.target = target;
    for (int i = 0; i < count; i++) {
      int number = i;
      threads.add(Thread.ofVirtual().start(() -> call(number)));
    }
  }

  private void call(int number) {
    var random = ThreadLocalRandom.current();
    Connection connection = null;
    try {
      while (!stop.await(random.nextInt(PAUSE), TimeUnit.MILLISECONDS)) {
        connection = once(number, connection, random.nextInt(SHORTEST, LONGEST));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close(connection);
    }
  }

  /** Returns the connection for the next request. */
  private @Nullable Connection once(int number, @Nullable Connection last, int millis) {
    var to = target.apply(number);
    var connection = last;
    long begun = System.nanoTime();
    try {
      if (connection == null || connection.to != to) {
        close(connection);
        connection = null;
        connection = new Connection(to);
      }
      long service = connection.request(millis);
      long now = System.nanoTime();
      waits.add(new Wait(now - begun - service, now));
      if (connection.isOver) {
        connection.close();
        return null;
      }
      return connection;
    } catch (IOException e) {
      if (to.wasKilled()) {
        inKilled.incrementAndGet();
      } else {
        lost.add(to.requests() + ": " + e.getMessage());
      }
      close(connection);
      return null;
    }
  }

  private static void close(@Nullable Connection connection) {
    if (connection != null) {
      connection.close();
    }
  }

  /** A connection to an activator. */
  private static final class Connection {
    private final Activator to;
    private final Socket socket = new Socket();
    private final InputStream in;
    /** Whether the activator closes it. */
    private boolean isOver;

    Connection(Activator to) throws IOException {
      this.to = to;
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.connect(to.requests());
      in = new BufferedInputStream(socket.getInputStream());
    }

    /** Returns for how long the pod had it. */
    long request(int millis) throws IOException {
      socket.getOutputStream().write(("""
          GET %s%d HTTP/1.1\r
          Host: here\r
          Knative-Serving-Namespace: %s\r
          Knative-Serving-Revision: %s\r
          \r
          """.formatted(CountingPod.WORK, millis, SharedRevision.NAMESPACE, SharedRevision.NAME))
          .getBytes(StandardCharsets.US_ASCII));
      var status = line();
      long service = -1;
      for (var field = line(); !field.isEmpty(); field = line()) {
        var parts = field.toLowerCase(Locale.ROOT).split(": ", 2);
        if (parts[0].equals(CountingPod.SERVICE_NANOS)) {
          service = Long.parseLong(parts[1]);
        }
        isOver |= parts[0].equals("connection") && parts[1].equals("close");
      }
      if (!status.startsWith("HTTP/1.1 200 ") || service < 0) {
        throw new IOException(status);
      }
      return service;
    }

    private String line() throws IOException {
      var line = new StringBuilder();
      for (int next = in.read(); next != '\n'; next = in.read()) {
        if (next < 0) {
          throw new IOException("the connection ended");
        }
        line.append((char) next);
      }
      return line.toString().strip();
    }

    void close() {
      try {
        socket.close();
      } catch (IOException e) {
        // It is not used any more.
      }
    }
  }

  /** How many requests were answered so far. */
  public int answered() {
    return waits.size();
  }

  /** Of the requests so far, those that ended after a point in time. */
  public List<Wait> waitsSince(long nanos) {
    return waits.stream().filter(wait -> wait.endedNanos() - nanos > 0).toList();
  }

  /** Why requests were not answered, except those that a killed activator had. */
  public List<String> lost() {
    return List.copyOf(lost);
  }

  /** How many requests ended with an activator that was killed. */
  public int inKilled() {
    return inKilled.get();
  }

  /** Waits until all requests have ended. */
  @Override
  public void close() throws InterruptedException {
    stop.countDown();
    for (var thread : threads) {
      thread.join();
    }
  }
}
