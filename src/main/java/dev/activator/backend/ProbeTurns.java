package dev.activator.backend;

import dev.activator.backend.policy.TokenBucket;
import dev.activator.backend.policy.Urgency;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Gives the probes of all revisions their turns.
 *
 * <p>
 * What has failed is asked again at most so often a second, all revisions together; they take turns,
 * and what may be starting goes before what has failed for long, which gets at least each fifth
 * turn. First probes of an address are as many as Kubernetes has news, so they do not count; but
 * only so many are under way at once.
 *
 * <p>
 * <b>Threads.</b> Any may call. The state belongs to {@code loop}; a turn comes on the executor that
 * was given for it.
 */
final class ProbeTurns {
  static final int MAX_FIRST_UNDER_WAY = 1_000;
  private static final int SHARE_OF_LASTING = 5;

  private record Waiting(Executor executor, Runnable turn) {}

  private final Loop loop;
  private final FairQueue<Waiting> first = new FairQueue<>();
  private final FairQueue<Waiting> starting = new FairQueue<>();
  private final FairQueue<Waiting> lasting = new FairQueue<>();
  private TokenBucket repeats;
  private int firstUnderWay;
  private int startingInARow;
  private Loop.@Nullable Timer nextRepeat;

  ProbeTurns(Loop loop, int repeatsPerSecond) {
    this.loop = loop;
    this.repeats = new TokenBucket(repeatsPerSecond, loop.nanoTime());
  }

  /** Runs {@code turn} on the executor, once, later; {@link #ended} must follow. */
  void ask(RevisionId revision, Urgency urgency, Executor executor, Runnable turn) {
    loop.execute(() -> {
      queue(urgency).add(revision, new Waiting(executor, turn));
      serve();
    });
  }

  /** The probe has come to its end. */
  void ended(Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      loop.execute(() -> {
        firstUnderWay--;
        serve();
      });
    }
  }

  /** The turn came when the probe was not wanted any more. */
  void unused(Urgency urgency) {
    ended(urgency);
    if (urgency != Urgency.FIRST) {
      loop.execute(() -> {
        repeats = repeats.more();
        serve();
      });
    }
  }

  /** Gives no turn any more. */
  void stop() {
    loop.execute(() -> {
      first.clear();
      starting.clear();
      lasting.clear();
    });
  }

  private FairQueue<Waiting> queue(Urgency urgency) {
    return switch (urgency) {
      case FIRST -> first;
      case STARTING -> starting;
      case LASTING -> lasting;
    };
  }

  private void serve() {
    while (!first.isEmpty() && firstUnderWay < MAX_FIRST_UNDER_WAY) {
      firstUnderWay++;
      grant(first);
    }
    while (nextRepeat == null && !(starting.isEmpty() && lasting.isEmpty())) {
      var wait = repeats.untilNext(loop.nanoTime());
      if (wait.isPositive()) {
        nextRepeat = loop.schedule(wait, () -> {
          nextRepeat = null;
          serve();
        });
      } else {
        repeats = repeats.less(loop.nanoTime());
        grant(nextRepeated());
      }
    }
  }

  private FairQueue<Waiting> nextRepeated() {
    boolean lastingIsNext = startingInARow >= SHARE_OF_LASTING - 1 && !lasting.isEmpty();
    if (starting.isEmpty() || lastingIsNext) {
      startingInARow = 0;
      return lasting;
    }
    startingInARow++;
    return starting;
  }

  private static void grant(FairQueue<Waiting> from) {
    var next = from.take();
    next.executor().execute(next.turn());
  }
}
