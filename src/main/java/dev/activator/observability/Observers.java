package dev.activator.observability;

import dev.activator.observability.request.LoopObserver;
import dev.activator.observability.request.RequestObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Who hears of requests. Whoever is added before the first request hears of all.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
public final class Observers {
  private final List<LoopObserver> loops = new ArrayList<>();
  private final List<Supplier<RequestObserver>> listeners = new ArrayList<>();

  /** The one to tell of the requests of one more loop. */
  public synchronized RequestObserver onLoop() {
    var loop = new LoopObserver();
    listeners.forEach(listener -> loop.add(listener.get()));
    loops.add(loop);
    return loop;
  }

  /** From now on the meters count. */
  public void count(Meters meters) {
    add(meters::onLoop);
  }

  /** From now on this one hears of the requests of all loops, on the threads of all. */
  public void add(RequestObserver listener) {
    add(() -> listener);
  }

  private synchronized void add(Supplier<RequestObserver> listener) {
    loops.forEach(loop -> loop.add(listener.get()));
    listeners.add(listener);
  }
}
