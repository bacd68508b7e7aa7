package dev.activator.ext.asleep;

import dev.activator.platform.IdleMethod;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * The wait until no activator sends anything to the pods of a workload, which are then put to sleep.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class Fall {
  private static final Duration POLL = Duration.ofMillis(20);
  /** Requests that arrive meanwhile wait no longer than that. */
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final RevisionId id;
  private final IdleState state;
  private final Duration drain;
  private final IdleMethod.Environment environment;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private List<String> missing = List.of();

  /**
   * @param state that is stored before
   * @param drain how long requests in flight may go on before the pods are removed instead; zero if the
   *     pods stay awake then
   */
  Fall(RevisionId id, IdleState state, Duration drain, IdleMethod.Environment environment) {
    this.id = id;
    this.state = state;
    this.drain = drain;
    this.environment = environment;
  }

  IdleState state() {
    return state;
  }

  /** The activators that have not acknowledged it in time. */
  List<String> missing() {
    return missing;
  }

  /** Whether the pods have to go, even if activators have not acknowledged it. */
  boolean isDrain() {
    return !drain.isZero();
  }

  /**
   * Call when the state is stored. Completes when nothing is sent to the pods, or the time is over.
   *
   * @param isWanted whether that still matters
   */
  CompletableFuture<Void> await(BooleanSupplier isWanted) {
    long now = environment.loop().nanoTime();
    var timeout = drain.compareTo(TIMEOUT) > 0 ? drain : TIMEOUT;
    poll(now, now + timeout.toNanos(), isWanted);
    return end;
  }

  private void poll(long written, long deadline, BooleanSupplier isWanted) {
    missing = environment.unacknowledged(id, state, written);
    if (missing.isEmpty() || !isWanted.getAsBoolean()
        || environment.loop().nanoTime() - deadline >= 0) {
      end.complete(null);
    } else {
      environment.loop().schedule(POLL, () -> poll(written, deadline, isWanted));
    }
  }
}
