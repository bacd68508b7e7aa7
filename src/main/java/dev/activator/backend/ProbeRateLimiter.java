package dev.activator.backend;

import dev.activator.backend.policy.ProbeQueue;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Limits the rate of the probes of all revisions, and sends urgent ones first.
 *
 * <p><b>Threads.</b> Any; the queue has a lock, so that a first probe, for which a request waits, changes
 * threads only to be sent on its revision's loop.
 */
final class ProbeRateLimiter {
  private record Probe(Loop loop, Urgency urgency, Consumer<Urgency> send) {
    void start() {
      loop.execute(() -> send.accept(urgency));
    }
  }

  private final Loop loop;
  private final ProbeQueue<Probe> queue;
  /** Used only on {@code loop}. */
  private final ResettableTimer nextRepeat;
  /** Whether the loop will send repeats; guarded by the lock. */
  private boolean repeats;

  /** @param loop waits for the next probe that the rate allows */
  ProbeRateLimiter(Loop loop, int repeatsPerSecond) {
    this.loop = loop;
    this.queue = new ProbeQueue<>(repeatsPerSecond, loop.nanoTime());
    this.nextRepeat = new ResettableTimer(loop, this::repeat);
  }

  /**
   * Schedules a probe. Call {@link #ended} when it has ended, or {@link #notSent} if it was not
   * sent.
   *
   * @param send gets the urgency with which it was sent
   */
  void schedule(RevisionId revision, Urgency urgency, Loop revisionLoop, Consumer<Urgency> send) {
    sendNext(() -> queue.add(revision, urgency, new Probe(revisionLoop, urgency, send)));
  }

  void ended(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      sendNext(() -> queue.ended(revision, urgency));
    }
  }

  void notSent(RevisionId revision, Urgency urgency) {
    sendNext(() -> queue.notSent(revision, urgency));
  }

  void setOnlyAwaited(boolean now) {
    sendNext(() -> queue.setOnlyAwaited(now));
  }

  /** Sends the revision's probes soon, because a request waits for it. */
  void hurry(RevisionId revision) {
    sendNext(() -> queue.takeUnhurried(revision).forEach(probe -> queue.add(revision,
        Urgency.FIRST, new Probe(probe.loop, Urgency.FIRST, probe.send))));
  }

  synchronized void stop() {
    queue.clear();
  }

  private synchronized void sendNext(Runnable change) {
    change.run();
    for (var next = queue.next(loop.nanoTime()); next != null; next = queue.next(loop.nanoTime())) {
      next.start();
    }
    if (queue.hasRepeats() && !repeats) {
      repeats = true;
      loop.execute(() -> nextRepeat.within(untilRepeat()));
    }
  }

  private synchronized Duration untilRepeat() {
    return queue.untilRepeat(loop.nanoTime());
  }

  private void repeat() {
    sendNext(() -> repeats = false);
  }
}
