package dev.activator.console;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * Where requests can go, as a stream: the present state, then each change. A slow subscriber gets
 * only the latest of each revision, so memory is bounded.
 */
public final class BackendUpdates {
  private BackendUpdates() {}

  /** Never completes; each subscriber has its own. */
  public static Flux<HealthyDestinations> of(RevisionBackendsManager backends) {
    return Flux.create(sink -> {
      var outlet = new Outlet(sink);
      var subscription = backends.subscribe(outlet::add);
      sink.onRequest(_ -> outlet.drain());
      sink.onDispose(subscription::close);
    }, FluxSink.OverflowStrategy.ERROR);
  }

  /** <b>Threads.</b> Any. Only one drains at a time. */
  private static final class Outlet {
    private final FluxSink<HealthyDestinations> sink;
    private final SequencedMap<RevisionId, HealthyDestinations> waiting = new LinkedHashMap<>();
    private final AtomicInteger work = new AtomicInteger();

    Outlet(FluxSink<HealthyDestinations> sink) {
      this.sink = sink;
    }

    void add(HealthyDestinations now) {
      synchronized (waiting) {
        waiting.put(now.revision(), now);
      }
      drain();
    }

    void drain() {
      if (work.getAndIncrement() > 0) {
        return;
      }
      int seen;
      do {
        seen = work.get();
        deliver();
      } while (work.addAndGet(-seen) > 0);
    }

    private void deliver() {
      while (sink.requestedFromDownstream() > 0) {
        var next = poll();
        if (next == null) {
          return;
        }
        sink.next(next);
      }
    }

    private @Nullable HealthyDestinations poll() {
      synchronized (waiting) {
        var first = waiting.pollFirstEntry();
        return first == null ? null : first.getValue();
      }
    }
  }
}
