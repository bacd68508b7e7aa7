package dev.activator.kube.reflector;

import static java.util.stream.Collectors.joining;

import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of outages of the Kubernetes API: one warning when watches have been closed for five
 * seconds, which names all of them, and one line when all are open again.
 *
 * <p><b>Threads.</b> The loop.
 */
final class ApiOutageLog {
  private static final Logger log = LoggerFactory.getLogger(ApiOutageLog.class);
  private static final Duration DELAY = Duration.ofSeconds(5);

  private final Loop loop;
  private final ResettableTimer timer;
  private final Set<Reflector<?>> closed = new LinkedHashSet<>();
  private long sinceNanos;
  private boolean isLogged;

  ApiOutageLog(Loop loop) {
    this.loop = loop;
    this.timer = new ResettableTimer(loop, this::logOutage);
  }

  void changed(Reflector<?> reflector, boolean isOpen) {
    if (!isOpen) {
      var gap = reflector.view().health().gap();
      if (closed.add(reflector) && closed.size() == 1) {
        sinceNanos = gap == null ? loop.nanoTime() : gap.sinceNanos();
        timer.within(DELAY.minus(since()));
      }
    } else if (isLast(reflector)) {
      if (isLogged) {
        log.info("All watches of the Kubernetes API are open again, after {} s",
            since().toSeconds());
      }
      isLogged = false;
    }
  }

  /** The reflector has been closed for good. An outage that was only its own ends without a line. */
  void released(Reflector<?> reflector) {
    if (isLast(reflector)) {
      isLogged = false;
    }
  }

  private boolean isLast(Reflector<?> reflector) {
    boolean isLast = closed.remove(reflector) && closed.isEmpty();
    if (isLast) {
      timer.cancel();
    }
    return isLast;
  }

  private void logOutage() {
    isLogged = true;
    var resources = closed.stream().map(one -> one.view().resource()).distinct()
        .collect(joining(", "));
    var failure = closed.stream().map(one -> one.view().health().gap())
        .flatMap(gap -> gap == null ? Stream.empty() : Stream.ofNullable(gap.failure()))
        .findFirst().orElse("it closed them");
    log.warn("The Kubernetes API has given no news of {} for {} s, and what started since is not"
        + " seen: {}; trying again", resources, since().toSeconds(), failure);
  }

  private Duration since() {
    return Duration.ofNanos(loop.nanoTime() - sinceNanos);
  }
}
