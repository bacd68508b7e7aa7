package dev.activator.backend;

import dev.activator.backend.policy.ProbeQueue;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.util.function.Consumer;

/**
 * Limits the rate of the probes of all revisions, and sends urgent ones first.
 *
 * <p><b>Threads.</b> Any. The queue belongs to {@code loop}; a probe is sent on its revision's loop.
 */
final class ProbeRateLimiter {
  private record Probe(Loop loop, Urgency urgency, Consumer<Urgency> send) {
    void start() {
      loop.execute(() -> send.accept(urgency));
    }
  }

  private final Loop loop;
  private final ProbeQueue<Probe> queue;
  private final ResettableTimer nextRepeat;

  ProbeRateLimiter(Loop loop, int repeatsPerSecond) {
    this.loop = loop;
    this.queue = new ProbeQueue<>(repeatsPerSecond, loop.nanoTime());
    this.nextRepeat = new ResettableTimer(loop, this::sendNext);
  }

  /**
   * Schedules a probe. Call {@link #ended} when it has ended, or {@link #notSent} if it was not
   * sent.
   *
   * @param send gets the urgency with which it was sent
   */
  void schedule(RevisionId revision, Urgency urgency, Loop revisionLoop, Consumer<Urgency> send) {
    loop.execute(() -> {
      queue.add(revision, urgency, new Probe(revisionLoop, urgency, send));
      sendNext();
    });
  }

  void ended(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      loop.execute(() -> {
        queue.ended(revision, urgency);
        sendNext();
      });
    }
  }

  void notSent(RevisionId revision, Urgency urgency) {
    loop.execute(() -> {
      queue.notSent(revision, urgency);
      sendNext();
    });
  }

  void setOnlyAwaited(boolean now) {
    loop.execute(() -> {
      queue.setOnlyAwaited(now);
      sendNext();
    });
  }

  /** Sends the revision's probes soon, because a request waits for it. */
  void hurry(RevisionId revision) {
    loop.execute(() -> {
      queue.takeUnhurried(revision).forEach(probe -> queue.add(revision, Urgency.FIRST,
          new Probe(probe.loop, Urgency.FIRST, probe.send)));
      sendNext();
    });
  }

  void stop() {
    loop.execute(queue::clear);
  }

  private void sendNext() {
    for (var next = queue.next(loop.nanoTime()); next != null; next = queue.next(loop.nanoTime())) {
      next.start();
    }
    if (queue.hasRepeats()) {
      nextRepeat.within(queue.untilRepeat(loop.nanoTime()));
    }
  }
}
