package dev.activator.kube;

import dev.activator.revision.LeaseClient;
import dev.activator.revision.LeaseClient.LeaseApiResult;
import dev.activator.revision.LeaseClient.LeaseRecord;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lease as an API server keeps it. */
public final class FakeLease implements LeaseClient {
  public @Nullable LeaseRecord lease;
  private long version;
  public boolean down;
  /** Whether reads throw. */
  public boolean breaks;
  /** Whether the lease may be read only. */
  public boolean refusesWrites;
  /** Whether writes arrive, but their answers do not. */
  public boolean losesAnswers;
  /** Writes wait for this on their way. */
  public CompletableFuture<Void> way = CompletableFuture.completedFuture(null);

  @Override
  public CompletableFuture<LeaseApiResult> read() {
    if (breaks) {
      throw new IllegalStateException("a bug");
    }
    if (down) {
      return CompletableFuture.completedFuture(new LeaseApiResult.Failed("down"));
    }
    return CompletableFuture.completedFuture(
        lease == null ? new LeaseApiResult.Absent() : new LeaseApiResult.Found(lease));
  }

  @Override
  public CompletableFuture<LeaseApiResult> write(LeaseRecord next) {
    if (down || refusesWrites) {
      return CompletableFuture
          .completedFuture(new LeaseApiResult.Failed(down ? "down" : "403 forbidden"));
    }
    return way.thenApply(_ -> {
      var answer = store(next);
      return losesAnswers ? new LeaseApiResult.Failed("no answer") : answer;
    });
  }

  private LeaseApiResult store(LeaseRecord next) {
    if (lease == null && !next.version().isEmpty()) {
      return new LeaseApiResult.Absent();
    }
    if (lease != null && !next.version().equals(lease.version())) {
      return new LeaseApiResult.Conflict();
    }
    lease = new LeaseRecord(next.holder(), next.durationSeconds(), next.transitions(),
        next.acquired(), next.renewed(), Long.toString(++version));
    return new LeaseApiResult.Found(lease);
  }
}
