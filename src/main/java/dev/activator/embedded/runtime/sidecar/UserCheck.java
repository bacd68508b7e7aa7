package dev.activator.embedded.runtime.sidecar;

import dev.activator.embedded.runtime.policy.UserProbe;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Finds out whether the process takes requests. Whoever asks while a check is under way shares it.
 *
 * <p>
 * <b>Threads.</b> Those of {@code loop}: callers, answers and tries.
 *
 * <p>
 * <b>Source.</b> {@code pkg/queue/readiness/probe.go} in Knative Serving.
 */
final class UserCheck {
  /** One try; answers exactly once, within the timeout. */
  @FunctionalInterface
  interface Attempt {
    void start(Duration timeout, Consumer<Boolean> answer);
  }

  private final Loop loop;
  private final UserProbe probe;
  private final Attempt attempt;
  private List<Consumer<Boolean>> waiting = new ArrayList<>();
  private long startedNanos;
  private int passes;
  private boolean stopped;

  UserCheck(Loop loop, UserProbe probe, Attempt attempt) {
    this.loop = loop;
    this.probe = probe;
    this.attempt = attempt;
  }

  /** Asks; the answer may come at once, or after ten seconds. */
  void ask(Consumer<Boolean> answer) {
    if (stopped) {
      return;
    }
    waiting.add(answer);
    if (waiting.size() == 1) {
      startedNanos = loop.nanoTime();
      passes = 0;
      tryOnce();
    }
  }

  /** Nobody needs to know any more: who waits is not answered. */
  void stop() {
    stopped = true;
    waiting.clear();
  }

  private void tryOnce() {
    if (stopped) {
      return;
    }
    attempt.start(probe.attempts().timeout(), this::tried);
  }

  private void tried(boolean passed) {
    if (stopped) {
      return;
    }
    passes = passed ? passes + 1 : 0;
    if (passes >= probe.successThreshold()) {
      answer(true);
    } else if (timeIsUp()) {
      answer(false);
    } else {
      loop.schedule(probe.attempts().pause(), this::tryOnce);
    }
  }

  private boolean timeIsUp() {
    var spent = Duration.ofNanos(loop.nanoTime() - startedNanos);
    return spent.plus(probe.attempts().pause()).compareTo(probe.attempts().limit()) >= 0;
  }

  private void answer(boolean ready) {
    var asked = waiting;
    waiting = new ArrayList<>();
    asked.forEach(one -> one.accept(ready));
  }
}
