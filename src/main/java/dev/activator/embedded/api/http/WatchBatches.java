package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.cache.CacheWatcher;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import reactor.core.publisher.FluxSink;

/**
 * The outlet of a watch that passes events in batches to the thread of its connection. Events are
 * collected while a batch is under way, so that many share one thread change and one write.
 *
 * <p><b>Threads.</b> The cache's loop, except {@link Batch#take}.
 */
final class WatchBatches implements CacheWatcher.Outlet {
  private static final int MAX_EVENTS = 256;
  private static final int MAX_BYTES = 256 * 1024;
  private static final int FRAME_BYTES = 40;
  private static final byte LINE_END = '\n';

  private final FluxSink<Batch> sink;
  private final ApiObjectEncoder.EventEncoder encoder;
  private List<WatchMessage> next = new ArrayList<>();
  private int nextBytes;
  private volatile @Nullable CacheWatcher watch;
  /** Whether a batch was passed to the connection's thread, which has not taken it yet. */
  private volatile boolean onItsWay;
  /**
   * Whether events are collected for another batch. Each thread sets its own flag before it reads
   * the other's.
   */
  private volatile boolean more;

  WatchBatches(FluxSink<Batch> sink, ApiObjectEncoder.EventEncoder encoder) {
    this.sink = sink;
    this.encoder = encoder;
  }

  @Override
  public void begin(CacheWatcher opened) {
    watch = opened;
    onItsWay = true;
    sink.next(new Batch(List.of(), 0));
  }

  /**
   * Whether more events can be taken. Also passes on collected events, because the watch calls this
   * after each {@link CacheWatcher#resume}.
   */
  @Override
  public boolean ready() {
    handOver();
    return next.size() < MAX_EVENTS && nextBytes < MAX_BYTES;
  }

  @Override
  public void send(WatchMessage signal) {
    next.add(signal);
    nextBytes += size(signal);
    handOver();
  }

  @Override
  public void end() {
    if (!next.isEmpty()) {
      emit();
    }
    sink.complete();
  }

  private void handOver() {
    if (next.isEmpty()) {
      return;
    }
    more = true;
    if (!onItsWay) {
      more = false;
      onItsWay = true;
      emit();
    }
  }

  private void emit() {
    var batch = new Batch(next, nextBytes);
    next = new ArrayList<>();
    nextBytes = 0;
    sink.next(batch);
  }

  private void taken() {
    onItsWay = false;
    var opened = watch;
    if (more && opened != null) {
      opened.resume();
    }
  }

  private static int size(WatchMessage signal) {
    return FRAME_BYTES + (signal instanceof WatchMessage.Changed(_, var object)
        ? object.json().length
        : 0);
  }

  /** A batch of messages. The first one is empty, and only sends the headers. */
  final class Batch {
    private final List<WatchMessage> events;
    private final int bytes;

    private Batch(List<WatchMessage> events, int bytes) {
      this.events = events;
      this.bytes = bytes;
    }

    /** Takes the messages to write them. The next batch may follow. */
    List<WatchMessage> take() {
      taken();
      return events;
    }

    @Nullable DataBuffer takeLines(DataBufferFactory buffers) {
      if (take().isEmpty()) {
        return null;
      }
      var out = buffers.allocateBuffer(bytes + events.size());
      for (var event : events) {
        out.write(encoder.encode(event)).write(LINE_END);
      }
      return out;
    }

    DataBuffer message(WatchMessage event, DataBufferFactory buffers) {
      return buffers.wrap(encoder.encode(event));
    }
  }
}
