package dev.activator.observability;

import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All observers as one; one that throws stops neither the request nor the others. One that is
 * added after the first request sees only the last steps of some.
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

  @Override
  public void saw(Step step, RequestTimeline request) {
    for (var observer : all) {
      try {
        observer.saw(step, request);
      } catch (RuntimeException e) {
        log.error("A request goes on, but its being {} was not recorded", step, e);
      }
    }
  }
}
