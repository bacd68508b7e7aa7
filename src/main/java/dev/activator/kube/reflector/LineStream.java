package dev.activator.kube.reflector;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A response of the Kubernetes API that is read line by line while it arrives, such as a watch.
 *
 * <p><b>Threads.</b> Any may call {@link #close}. The listener is called on threads of the client.
 */
final class LineStream {
  /** Receives a stream. Calls come one at a time, in order. */
  interface Listener {
    void opened();

    /** A line; the bytes are overwritten after the call. */
    void line(byte[] bytes, int from, int length) throws IOException;

    /** @param handled must be run when the chunk is handled; one other is read until then */
    void chunkRead(Runnable handled);

    /**
     * The stream has ended; this is the last call. The failure is null if the server ended the
     * stream regularly.
     */
    void ended(@Nullable Throwable failure);
  }

  /** The limit of chunks in memory: one is read while another is handled. */
  private static final int MAX_CHUNKS = 2;

  private final KubernetesHttpClientFactory transport;
  private final Duration answerTimeout;
  private final Listener listener;
  private final KubernetesHttpClientFactory.Handle handle;
  private final Splitter lines = new Splitter();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger unhandledChunks = new AtomicInteger();

  /** @param answerTimeout until the head of the response */
  LineStream(KubernetesHttpClientFactory transport, Duration answerTimeout, Listener listener) {
    this.transport = transport;
    this.answerTimeout = answerTimeout;
    this.listener = listener;
    this.handle = transport.newHandle();
  }

  /** @param longest the time after which the stream fails */
  void open(HttpRequest.Builder builder, Duration longest) {
    try {
      var request = builder.header(KubernetesHttpClientFactory.HANDLE, handle.name())
          .timeout(longest.toMillis(), TimeUnit.MILLISECONDS).build();
      transport.client().consumeBytes(request, this::received)
          .orTimeout(answerTimeout.toMillis(), TimeUnit.MILLISECONDS)
          .whenComplete(this::answered);
    } catch (RuntimeException | Error e) {
      end(e);
    }
  }

  private void answered(@Nullable HttpResponse<AsyncBody> response, @Nullable Throwable failure) {
    if (response == null) {
      end(failure instanceof TimeoutException
          ? new TimeoutException("no answer within " + answerTimeout.toSeconds() + " s")
          : failure);
      return;
    }
    var body = response.body();
    if (response.code() != KubernetesApiClient.OK) {
      body.cancel();
      end(KubernetesApiClient.failure(response));
      return;
    }
    try {
      listener.opened();
      body.done().whenComplete((_, broken) -> end(broken));
      consume(body);
    } catch (RuntimeException | Error e) {
      end(e);
    }
  }

  private void received(List<ByteBuffer> chunks, AsyncBody body) {
    try {
      for (var chunk : chunks) {
        lines.split(chunk, listener);
      }
      // Counted first, because the chunk may be handled before the call returns.
      boolean hasRoom = unhandledChunks.incrementAndGet() < MAX_CHUNKS;
      listener.chunkRead(() -> {
        if (unhandledChunks.getAndDecrement() == MAX_CHUNKS) {
          consume(body);
        }
      });
      if (hasRoom) {
        // On this thread, which would otherwise have to be woken.
        consume(body);
      }
    } catch (IOException | RuntimeException | Error e) {
      // Errors are caught, too. The library would not report them, and the watch would hang.
      end(e);
    }
  }

  private void consume(AsyncBody body) {
    try {
      body.consume();
    } catch (RuntimeException | Error e) {
      end(e);
    }
  }

  void end(@Nullable Throwable failure) {
    if (over.compareAndSet(false, true)) {
      handle.cancel();
      listener.ended(failure);
    }
  }

  /** Ends the stream. Calls that are under way may still arrive. */
  void close() {
    over.set(true);
    handle.cancel();
  }

  /** Splits the chunks of a body into lines. Not thread-safe. */
  static final class Splitter {
    /** The limit of a line. Kubernetes objects have a few megabytes at most. */
    private static final int MAX_LINE_BYTES = 64 << 20;
    private static final int KEPT = 64 << 10;

    private byte[] begun = new byte[0];
    private int length;

    void split(ByteBuffer chunk, Listener listener) throws IOException {
      var bytes = new byte[chunk.remaining()];
      chunk.get(bytes);
      int from = 0;
      for (int i = 0; i < bytes.length; i++) {
        if (bytes[i] == '\n') {
          end(bytes, from, i, listener);
          from = i + 1;
        }
      }
      append(bytes, from, bytes.length);
    }

    private void end(byte[] bytes, int from, int to, Listener listener) throws IOException {
      if (length == 0) {
        listener.line(bytes, from, to - from);
        return;
      }
      append(bytes, from, to);
      listener.line(begun, 0, length);
      length = 0;
      if (begun.length > KEPT) {
        begun = new byte[0];
      }
    }

    private void append(byte[] bytes, int from, int to) throws IOException {
      int needed = length + to - from;
      if (needed > MAX_LINE_BYTES) {
        throw new IOException("a line of more than " + MAX_LINE_BYTES + " bytes");
      }
      if (needed > begun.length) {
        begun = Arrays.copyOf(begun, Math.max(needed, 2 * begun.length));
      }
      System.arraycopy(bytes, from, begun, length, to - from);
      length = needed;
    }
  }
}
