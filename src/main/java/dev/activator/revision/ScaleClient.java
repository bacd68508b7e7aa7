package dev.activator.revision;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Reads and writes how many replicas workloads have: the seam between what decides and what is
 * scaled. One implementation writes {@code scale} subresources of Kubernetes, another starts and
 * stops processes of this machine. What has no replicas has one while it runs, and none while it
 * does not.
 *
 * <p><b>Threads.</b> Called on the autoscaler's loop, must not block, and may answer on any thread.
 *
 * <p><b>Units.</b> Replicas are pods.
 *
 * <p><b>Errors.</b> A failure is a result: a future never fails.
 *
 * <p><b>Source.</b> client-go's {@code scale.ScaleInterface}.
 *
 * @param <T> the targets that it can scale
 */
public interface ScaleClient<T extends ScaleTarget> {
  /**
   * Prepares for scaling to zero. Called before the last replicas are removed, and before it is
   * confirmed that this activator leads.
   *
   * @param drain how long its requests in flight may go on before the replicas are removed anyway; zero
   *     if replicas with requests stay
   * @return whether the replicas may be removed within the next half minute; if not, the call is
   *     repeated later
   */
  default CompletableFuture<Boolean> prepareScaleToZero(RevisionId id, T workload,
      Duration drain) {
    return CompletableFuture.completedFuture(true);
  }

  /**
   * Call if the last replicas stay, although {@link #prepareScaleToZero} has permitted to remove
   * them.
   */
  default void cancelScaleToZero(RevisionId id, T workload) {}

  /**
   * Prepares for the removal of some replicas, but not all. Called before this client's user removes
   * them, and now and then while another client may. Completes within two seconds.
   */
  default CompletableFuture<Void> prepareScaleDown(RevisionId id) {
    return CompletableFuture.completedFuture(null);
  }

  /** Reads the scale of a workload in the namespace of {@code id}. */
  CompletableFuture<ScaleApiResult> read(RevisionId id, T workload);

  /**
   * Reads which client has set the replicas, by its name as a field manager; empty if that is
   * unknown.
   */
  default CompletableFuture<String> managerOfReplicas(RevisionId id, T workload) {
    return CompletableFuture.completedFuture("");
  }

  /**
   * Sets the replicas, unless the workload has changed since it was read. Gives up two seconds
   * after the call, or a few seconds later where something else than the API is called, since a
   * later leader may write afterwards.
   *
   * @param read the result of {@link #read}
   */
  CompletableFuture<ScaleApiResult> write(RevisionId id, T workload,
      ScaleApiResult.Found read, int replicas);

  /** What the last write, which has succeeded, has done to a workload. */
  default Change change(RevisionId id, T workload, int from, int to) {
    return new Change(to == 0 ? "ScaledToZero" : to > from ? "ScaledUp" : "ScaledDown",
        "goes from " + from + " to " + to, workload.startedBy());
  }

  /**
   * A change of a workload.
   *
   * @param reason of the Event, one word
   * @param text the end of a sentence that begins with the workload
   * @param method by which it is started, or its pods are woken
   */
  record Change(String reason, String text, String method) {}
}
