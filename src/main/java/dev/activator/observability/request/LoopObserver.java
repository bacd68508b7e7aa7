package dev.activator.observability.request;

import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells all who listen to the requests of one loop, and keeps their bugs from the requests.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own tells; any may say who listens.
 */
public final class LoopObserver implements RequestObserver {
  private static final Logger log = LoggerFactory.getLogger(LoopObserver.class);

  private volatile RequestObserver[] listeners = {};

  /** From now on this one hears of requests too. */
  public synchronized void add(RequestObserver listener) {
    var more = Arrays.copyOf(listeners, listeners.length + 1);
    more[listeners.length] = listener;
    listeners = more;
  }

  @Override
  public void saw(Step step, RequestRecord request) {
    for (var listener : listeners) {
      try {
        listener.saw(step, request);
      } catch (RuntimeException bug) {
        log.error("A request goes on, but its being {} was not recorded", step, bug);
      }
    }
  }
}
