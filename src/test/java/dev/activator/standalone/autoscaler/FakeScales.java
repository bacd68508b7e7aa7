package dev.activator.standalone.autoscaler;

import dev.activator.revision.ScaleClient;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleApiResult.Undecided;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Workloads whose replicas are numbers in a map; without an entry there are none. */
public final class FakeScales implements ScaleClient<ScaleTarget> {
  private final Map<RevisionId, Found> scales = new HashMap<>();
  public final List<Integer> writes = new ArrayList<>();
  public int reads;
  /** Of writes; null to accept them. */
  public @Nullable Reason refuses;
  /** The same for reads. */
  public @Nullable Reason refusesReads;
  /** Whether reads throw. */
  public boolean breaksReads;
  /** The one whose reads are refused; null for all. */
  public @Nullable RevisionId refusesOnly;
  /** What a refusal asks for. */
  public Duration retryAfter = Duration.ZERO;
  /** Answered later, by the test; null to answer at once. */
  public @Nullable CompletableFuture<ScaleApiResult> later;
  /** The same for reads. */
  public @Nullable CompletableFuture<ScaleApiResult> laterRead;
  /** Reads that wait for the test to answer them; null to answer at once. */
  public @Nullable List<Runnable> laterReads;
  public @Nullable RevisionId lastRead;
  /** Whether the fields of what is read are neither those of a running nor of a stopped one. */
  public boolean isUndecided;
  /** What the API makes of the replicas that it should store. */
  public IntUnaryOperator stores = replicas -> replicas;
  /** How many are still there after a write. */
  public int ending;
  /** Whether the last replicas may go. */
  public CompletableFuture<Boolean> mayScaleToZero = CompletableFuture.completedFuture(true);
  public int asksForZero;
  public Duration drain = Duration.ZERO;
  public String managerOfReplicas = "";
  public int cancelledScaleToZero;
  /** Completed by the test. */
  public CompletableFuture<Void> preparation = CompletableFuture.completedFuture(null);
  public int preparations;

  @Override
  public CompletableFuture<String> managerOfReplicas(RevisionId id, ScaleTarget workload) {
    return CompletableFuture.completedFuture(managerOfReplicas);
  }

  public void set(RevisionId id, int replicas) {
    set(id, replicas, replicas);
  }

  private void set(RevisionId id, int replicas, int current) {
    var before = scales.get(id);
    long version = before == null ? 1 : Long.parseLong(before.resourceVersion()) + 1;
    scales.put(id, new Found(replicas, current, Long.toString(version)));
  }

  public int replicas(RevisionId id) {
    return scales.get(id).replicas();
  }

  public String version(RevisionId id) {
    return scales.get(id).resourceVersion();
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget workload) {
    reads++;
    if (breaksReads) {
      throw new IllegalStateException("a bug");
    }
    lastRead = id;
    if (laterReads != null) {
      var answer = new CompletableFuture<ScaleApiResult>();
      laterReads.add(() -> answer.complete(scales.get(id)));
      return answer;
    }
    if (laterRead != null) {
      return laterRead;
    }
    if (refusesReads != null && (refusesOnly == null || refusesOnly.equals(id))) {
      return CompletableFuture.completedFuture(refused(refusesReads));
    }
    if (isUndecided) {
      return CompletableFuture.completedFuture(new Undecided(version(id)));
    }
    return CompletableFuture.completedFuture(scales.containsKey(id)
        ? scales.get(id)
        : new Refused(Reason.NOT_FOUND, workload + " not found"));
  }

  @Override
  public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id, ScaleTarget workload,
      Duration forRequests) {
    asksForZero++;
    drain = forRequests;
    return mayScaleToZero;
  }

  @Override
  public void cancelScaleToZero(RevisionId id, ScaleTarget workload) {
    cancelledScaleToZero++;
  }

  @Override
  public CompletableFuture<Void> prepareScaleDown(RevisionId id) {
    preparations++;
    return preparation;
  }

  private Refused refused(Reason reason) {
    return new Refused(reason, "refused: " + reason, retryAfter);
  }

  /** As `kubectl delete` does. */
  public void remove(RevisionId id) {
    scales.remove(id);
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget workload, Found read,
      int replicas) {
    if (refuses != null) {
      return CompletableFuture.completedFuture(refused(refuses));
    }
    if (!scales.containsKey(id)) {
      return CompletableFuture
          .completedFuture(new Refused(Reason.NOT_FOUND, workload + " not found"));
    }
    if (!read.resourceVersion().equals(scales.get(id).resourceVersion())) {
      return CompletableFuture.completedFuture(new Refused(Reason.CONFLICT, "conflict"));
    }
    writes.add(replicas);
    if (writes.size() > 10_000) {
      throw new IllegalStateException("writes again and again");
    }
    int stored = stores.applyAsInt(replicas);
    set(id, stored, stored + ending);
    return later != null ? later : CompletableFuture.completedFuture(scales.get(id));
  }
}
