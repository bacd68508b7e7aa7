package dev.activator.autoscaler;

import dev.activator.revision.LeaseClient;
import dev.activator.revision.LeaseAnswer;
import dev.activator.revision.LeaseRecord;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lease as an API server keeps it. */
final class FakeLease implements LeaseClient {
  @Nullable LeaseRecord lease;
  private long version;
  boolean down;
  /** Whether reads throw. */
  boolean breaks;
  /** Whether the lease may be read only. */
  boolean refusesWrites;
  /** Whether writes arrive, but their answers do not. */
  boolean losesAnswers;
  /** Writes wait for this on their way. */
  CompletableFuture<Void> way = CompletableFuture.completedFuture(null);

  @Override
  public CompletableFuture<LeaseAnswer> read() {
    if (breaks) {
      throw new IllegalStateException("a bug");
    }
    if (down) {
      return CompletableFuture.completedFuture(new LeaseAnswer.Failed("down"));
    }
    return CompletableFuture.completedFuture(
        lease == null ? new LeaseAnswer.Absent() : new LeaseAnswer.Found(lease));
  }

  @Override
  public CompletableFuture<LeaseAnswer> write(LeaseRecord next) {
    if (down || refusesWrites) {
      return CompletableFuture
          .completedFuture(new LeaseAnswer.Failed(down ? "down" : "403 forbidden"));
    }
    return way.thenApply(_ -> {
      var answer = store(next);
      return losesAnswers ? new LeaseAnswer.Failed("no answer") : answer;
    });
  }

  private LeaseAnswer store(LeaseRecord next) {
    if (lease == null && !next.version().isEmpty()) {
      return new LeaseAnswer.Absent();
    }
    if (lease != null && !next.version().equals(lease.version())) {
      return new LeaseAnswer.Conflict();
    }
    lease = new LeaseRecord(next.holder(), next.durationSeconds(), next.transitions(),
        next.acquired(), next.renewed(), Long.toString(++version));
    return new LeaseAnswer.Found(lease);
  }
}
