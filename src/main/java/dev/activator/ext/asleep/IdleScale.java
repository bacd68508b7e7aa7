package dev.activator.ext.asleep;

import dev.activator.platform.IdleMethod;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The scale of one workload, whose pods count as replicas asleep or not.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class IdleScale {
  private final IdleMethod.Environment environment;
  private final IdleProgress progress;
  /** As it was last read; null before, and after a write. */
  private @Nullable Found last;

  IdleScale(IdleMethod.Environment environment, IdleProgress progress) {
    this.environment = environment;
    this.progress = progress;
  }

  /** As it was last read; null before, and after a write. */
  @Nullable Found last() {
    return last;
  }

  /** Completes on the loop. */
  CompletableFuture<ScaleApiResult> read() {
    return environment.workloads().read(progress.id(), progress.target().workload())
        .thenApplyAsync(read -> {
          last = read instanceof Found found ? found : last;
          return read;
        }, environment.loop());
  }

  /** Reads it, and takes a step with it on the loop. */
  CompletableFuture<ScaleApiResult> with(
      Function<Found, CompletableFuture<ScaleApiResult>> then) {
    return read().thenCompose(read -> read instanceof Found found
        ? then.apply(found)
        : CompletableFuture.completedFuture(read));
  }

  /** Sets the number of replicas, unless they have changed since they were read. */
  CompletableFuture<ScaleApiResult> write(Found read, int replicas) {
    last = null;
    var target = progress.target();
    return progress.mayWrite()
        ? environment.workloads().write(progress.id(), target.workload(), read, replicas)
        : CompletableFuture.completedFuture(new Refused(Reason.CONFLICT,
            "cannot scale " + target + ": this activator may not write now"));
  }
}
