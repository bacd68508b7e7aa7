package dev.activator.ext.asleep;

import dev.activator.loop.Loop;
import dev.activator.platform.StatusField;
import dev.activator.platform.StatusField.Stored;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code status.idle} of one ScaledService as it was last read or written, and the order of the steps
 * that depend on it: one after another.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class StoredState {
  private static final Logger log = LoggerFactory.getLogger(StoredState.class);

  private final RevisionId id;
  private final StatusField<IdleState> states;
  private final Loop loop;
  /** Null before the first read. */
  private @Nullable Stored<IdleState> stored;
  /** Completes when the last step has ended. */
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  StoredState(RevisionId id, StatusField<IdleState> states, Loop loop) {
    this.id = id;
    this.states = states;
    this.loop = loop;
  }

  /** Null if its pods run, or before the first read. */
  @Nullable IdleState value() {
    return stored == null ? null : stored.value();
  }

  CompletableFuture<Stored<IdleState>> get() {
    return kept(states.get(id));
  }

  /**
   * Replaces the state that was last read.
   *
   * @param next null if its pods run
   */
  CompletableFuture<Stored<IdleState>> replace(@Nullable IdleState next) {
    var read = stored;
    if (read == null) {
      throw new IllegalStateException(id + " was not read");
    }
    return kept(states.replace(id, read, next));
  }

  /** Keeps the state on the loop. One that could not be read stays as it was. */
  private CompletableFuture<Stored<IdleState>> kept(CompletableFuture<Stored<IdleState>> answer) {
    return answer.thenApplyAsync(now -> {
      if (now.refusal() == null) {
        stored = now;
      }
      return now;
    }, loop);
  }

  /** Takes a step once those before it have ended. It ends on the loop. */
  <T> CompletableFuture<T> step(Supplier<CompletableFuture<T>> begin) {
    var step = last.handle((_, _) -> true).thenComposeAsync(_ -> begin.get(), loop);
    last = step;
    return step.whenComplete((_, failure) -> {
      if (failure != null) {
        log.error("A step of {} failed, which falls asleep or wakes", id, failure);
      }
    });
  }
}
