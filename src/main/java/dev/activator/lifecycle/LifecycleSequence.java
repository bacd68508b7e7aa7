package dev.activator.lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the parts of the process in order, and stops them in reverse.
 *
 * <p><b>Threads.</b> One caller at a time.
 *
 * <p><b>Errors.</b> If a part fails to start, those before it are stopped. If a part fails to stop,
 * that is logged.
 */
public final class LifecycleSequence {
  private static final Logger log = LoggerFactory.getLogger(LifecycleSequence.class);

  private final List<LifecyclePart> parts;
  private final Deque<LifecyclePart> running = new ArrayDeque<>();

  public LifecycleSequence(List<LifecyclePart> parts) {
    this.parts = List.copyOf(parts);
  }

  public void start() {
    for (var part : parts) {
      start(part);
      running.push(part);
    }
  }

  public void stop() {
    while (!running.isEmpty()) {
      stop(running.pop());
    }
  }

  private void start(LifecyclePart part) {
    try {
      log.debug("Starting {}", part.name());
      part.start().run();
    } catch (Exception e) {
      // Catches every exception, because the parts that run must be stopped in each case. The
      // interrupt flag is not set again, because it would interrupt stopping them; the exception
      // still reports it.
      stop();
      throw StartupFailedException.of(part.name(), e);
    } catch (Error e) {
      stop();
      throw e;
    }
  }

  private static void stop(LifecyclePart part) {
    try {
      log.debug("Stopping {}", part.name());
      part.stop().run();
    } catch (RuntimeException | Error e) {
      log.warn("Stopping {} failed", part.name(), e);
    }
  }
}
