package dev.activator.ext.asleep;

import dev.activator.ext.asleep.IdleStatuses.Stored;
import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process knows of one workload that can be asleep. Its steps are taken one after another.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class IdleWorkload {
  private static final Logger log = LoggerFactory.getLogger(IdleWorkload.class);

  private final RevisionId id;
  private final IdleStatuses statuses;
  private final Loop loop;
  /** The state as it was last read or written; null before. */
  @Nullable Stored stored;
  /** The pods that this process is about to put to sleep; null if there are none. */
  @Nullable Fall fall;
  /** What this process has put to sleep; null if it has woken them since. */
  @Nullable Slept slept;
  /** Whether it is read again, because pods that were asleep are ending. */
  boolean isEndAwaited;
  /** The states that this process has brought about, or has repeated after another leader. */
  final Set<IdleState> ours = new HashSet<>();
  /** Completes when the last step has ended. */
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  record Slept(List<Destination> pods, IdleTarget target, IdleState state) {}

  /** The wait until no activator sends anything to the pods. */
  static final class Fall {
    final IdleState state;
    final CompletableFuture<Boolean> answer = new CompletableFuture<>();
    /** When the state was stored, in the loop's time. */
    long written;

    Fall(IdleState state) {
      this.state = state;
    }
  }

  IdleWorkload(RevisionId id, IdleStatuses statuses, Loop loop) {
    this.id = id;
    this.statuses = statuses;
    this.loop = loop;
  }

  @Nullable IdleState state() {
    return stored == null ? null : stored.state();
  }

  CompletableFuture<Stored> get() {
    return kept(statuses.get(id));
  }

  /** @param next null if its pods run */
  CompletableFuture<Stored> replace(Stored read, @Nullable IdleState next) {
    return kept(statuses.replace(id, read, next));
  }

  /** Keeps the state on the loop. One that could not be read stays as it was. */
  private CompletableFuture<Stored> kept(CompletableFuture<Stored> answer) {
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
