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
 * The batches in which events of a watch reach its connection's thread. Events gather while a batch
 * is under way, so that many share one thread change and one write.
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
  /** Whether a batch was handed over and is not being written yet. */
  private volatile boolean onItsWay;
  /** Whether another batch gathers. Each thread sets its own flag before it reads the other's. */
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

  /** Also hands over what has gathered: the watch calls this after every {@link CacheWatcher#resume}. */
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

  /** The first batch is empty: it only sends the headers. */
  final class Batch {
    private final List<WatchMessage> events;
    private final int bytes;

    private Batch(List<WatchMessage> events, int bytes) {
      this.events = events;
      this.bytes = bytes;
    }

    /** Takes the messages, to be written now. The next batch may follow. */
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
        encoder.encode(event, out);
        out.write(LINE_END);
      }
      return out;
    }

    DataBuffer message(WatchMessage event, DataBufferFactory buffers) {
      var out = buffers.allocateBuffer(size(event));
      encoder.encode(event, out);
      return out;
    }
  }
}
