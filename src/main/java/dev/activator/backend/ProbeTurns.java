package dev.activator.backend;

import dev.activator.backend.policy.TokenBucket;
import dev.activator.backend.policy.Urgency;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Gives the probes of all revisions their turns. What has failed is asked again at most so often a
 * second, all revisions together. First probes are as many as Kubernetes has news, so they do not
 * count; but only so many are under way at once. Revisions take turns in all of it.
 *
 * <p>
 * <b>Threads.</b> Any may call. The state belongs to {@code loop}; a turn comes on the executor that
 * was given for it.
 */
final class ProbeTurns {
  /** A probe that wants its turn. */
  private record Waiting(Executor executor, Runnable turn) {
    void begin() {
      executor.execute(turn);
    }
  }

  private final Loop loop;
  private final FirstProbes<Waiting> first = new FirstProbes<>();
  private final Repeats<Waiting> repeats;
  private Loop.@Nullable Timer nextRepeat;

  ProbeTurns(Loop loop, int repeatsPerSecond) {
    this.loop = loop;
    this.repeats = new Repeats<>(new TokenBucket(repeatsPerSecond, loop.nanoTime()));
  }

  /**
   * Runs {@code turn} on the executor, once, later. When the probe has come to its end, {@link
   * #ended} must follow, or {@link #unused} if it was not sent.
   */
  void ask(RevisionId revision, Urgency urgency, Executor executor, Runnable turn) {
    loop.execute(() -> {
      var waiting = new Waiting(executor, turn);
      if (urgency == Urgency.FIRST) {
        first.add(revision, waiting);
      } else {
        repeats.add(revision, urgency, waiting);
      }
      serve();
    });
  }

  void ended(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      loop.execute(() -> {
        first.ended(revision);
        serve();
      });
    }
  }

  void unused(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      ended(revision, urgency);
    } else {
      loop.execute(repeats::unused);
    }
  }

  /** Gives no turn any more. */
  void stop() {
    loop.execute(() -> {
      first.clear();
      repeats.clear();
    });
  }

  private void serve() {
    for (var next = first.next(); next != null; next = first.next()) {
      next.begin();
    }
    while (nextRepeat == null && !repeats.isEmpty()) {
      long now = loop.nanoTime();
      var wait = repeats.untilNext(now);
      var next = wait.isPositive() ? null : repeats.next(now);
      if (next == null) {
        nextRepeat = loop.schedule(wait, this::timeForRepeat);
      } else {
        next.begin();
      }
    }
  }

  private void timeForRepeat() {
    nextRepeat = null;
    serve();
  }
}
