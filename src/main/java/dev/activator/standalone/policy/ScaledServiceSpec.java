package dev.activator.standalone.policy;

import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.OptionalInt;

/**
 * The scaling of a ScaledService's workload: the object to scale, the bounds, and the target load.
 *
 * @param id the name of the ScaledService, by which its requests are counted
 * @param workload what is scaled
 * @param minReplicas the lower bound; 0 or 1 without {@code maxReplicas}
 * @param maxReplicas the upper bound; empty if the workload is only scaled between 0 and 1, and
 *     another autoscaler, such as an HPA, scales it above 1
 * @param otherGoesToZero whether that other autoscaler also removes the last replica, such as an
 *     HPA with {@code minReplicas: 0}
 * @param load the target load of each replica
 * @param containerConcurrency the maximum number of requests in flight of one replica; 0 for no
 *     limit
 * @param window the time over which the load is averaged, and after which an idle workload is
 *     scaled to zero; 6 s to 1 h, in whole seconds
 * @param requestTimeout how long a request may take, including the time in the queue
 * @param lastDesired the desired replicas that the previous leader published in the status; empty
 *     if it published none
 * @param warmTimes when the workload keeps pods although it has no requests
 * @param conflicts which workloads may not run while it does
 * @param refusal why all requests are refused, so that they must start no pod; empty if they are
 *     not
 */
public record ScaledServiceSpec(RevisionId id, ScaleTarget workload, int minReplicas,
    OptionalInt maxReplicas, boolean otherGoesToZero, LoadTarget load, int containerConcurrency,
    Duration window,
    Duration requestTimeout, OptionalInt lastDesired, KeepWarmSettings warmTimes,
    ConflictSpec conflicts, String refusal) {

  public ScaledServiceSpec {
    if (load.concurrency().isEmpty() && load.requestsPerSecond().isEmpty()
        && containerConcurrency == 0) {
      throw new IllegalArgumentException(
          id + " needs a target concurrency, a target rate or a container concurrency");
    }
  }

  /** A copy that scales this instead. */
  public ScaledServiceSpec with(ScaleTarget scaled) {
    return new ScaledServiceSpec(id, scaled, minReplicas, maxReplicas, otherGoesToZero, load,
        containerConcurrency, window, requestTimeout, lastDesired, warmTimes, conflicts, refusal);
  }

  /** A copy without {@code lastDesired}. */
  public ScaledServiceSpec withoutLastDesired() {
    return new ScaledServiceSpec(id, workload, minReplicas, maxReplicas,
        otherGoesToZero, load, containerConcurrency,
        window,
        requestTimeout, OptionalInt.empty(), warmTimes, conflicts, refusal);
  }
}
