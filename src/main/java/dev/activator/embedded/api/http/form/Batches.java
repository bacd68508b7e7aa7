package dev.activator.embedded.api.http.form;

import dev.activator.embedded.api.cache.Outlet;
import dev.activator.embedded.api.cache.Watch;
import dev.activator.embedded.api.cache.object.Signal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.FluxSink;

/**
 * Brings what a watch is told to its connection's thread. While one batch is on its way, the next
 * one gathers: the busier both threads are, the more events share the cost of a hop and a write.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop, but for {@link #taken} and {@link #resumes}.
 */
public final class Batches implements Outlet {
  private static final int LARGEST_EVENTS = 256;
  private static final int LARGEST_BYTES = 256 * 1024;

  private final FluxSink<Batch> sink;
  private final Form.EventEncoder encoder;
  private List<Batch.Event> next = new ArrayList<>();
  private int nextBytes;
  private volatile @Nullable Watch watch;
  /** One batch was handed over, and nobody has begun to write it. */
  private volatile boolean onItsWay;
  /** Another gathers. Each side sets its own flag before it looks at the other's. */
  private volatile boolean more;

  public Batches(FluxSink<Batch> sink, Form.EventEncoder encoder) {
    this.sink = sink;
    this.encoder = encoder;
  }

  /** The watch to resume when there is room. */
  public void resumes(Watch opened) {
    watch = opened;
  }

  @Override
  public void begin() {
    onItsWay = true;
    sink.next(new Batch(List.of(), this::taken));
  }

  /** Asked again after every {@link Watch#resume}: what has gathered goes then. */
  @Override
  public boolean ready() {
    handOver();
    return next.size() < LARGEST_EVENTS && nextBytes < LARGEST_BYTES;
  }

  @Override
  public void send(Signal signal) {
    var event = new Batch.Told(signal, encoder);
    next.add(event);
    nextBytes += event.size();
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
    var batch = new Batch(next, this::taken);
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
}
