package dev.activator.observability;

import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Combines all observers into one. An observer that throws stops neither the request nor the
 * others. An observer that is added while requests run sees only their last steps.
 */
public final class RequestObservers implements RequestObserver {
  private static final Logger log = LoggerFactory.getLogger(RequestObservers.class);

  private volatile RequestObserver[] all = {};

  public synchronized void add(RequestObserver observer) {
    var more = Arrays.copyOf(all, all.length + 1);
    more[all.length] = observer;
    all = more;
  }

  public synchronized void remove(RequestObserver observer) {
    all = Arrays.stream(all).filter(each -> each != observer).toArray(RequestObserver[]::new);
  }

  /** All observers, in the order in which they are called. */
  public List<RequestObserver> all() {
    return List.of(all);
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    for (var observer : all) {
      try {
        observer.saw(step, request);
      } catch (RuntimeException e) {
        log.error("Recording the step {} of a request failed", step, e);
      }
    }
  }
}
