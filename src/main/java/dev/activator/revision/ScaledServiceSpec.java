package dev.activator.revision;

import java.time.Duration;
import java.util.OptionalInt;

/**
 * How a ScaledService wants its workload scaled: what, between which bounds, by which load.
 *
 * @param id whose requests count; the name of the ScaledService
 * @param workload what is scaled
 * @param minReplicas it always has; 0 or 1 without {@code maxReplicas}
 * @param maxReplicas it may have; empty if it is only scaled between 0 and 1, and something else, such
 *     as an HPA, does the rest
 * @param load that each replica should have
 * @param containerConcurrency requests at once that one replica may have; 0 for any number
 * @param window over which the load is averaged, and after which an idle workload is scaled to zero; 6
 *     s to 1 h, in whole seconds
 * @param requestTimeout how long a request may take, waiting included
 * @param lastDesired what the leader before us published in the status; empty if it published none
 * @param warmTimes when it keeps pods without requests
 */
public record ScaledServiceSpec(RevisionId id, ScaleTargetRef workload, int minReplicas,
    OptionalInt maxReplicas, LoadTarget load, int containerConcurrency, Duration window,
    Duration requestTimeout, OptionalInt lastDesired, KeepWarmSettings warmTimes) {

  public ScaledServiceSpec {
    if (load.concurrency().isEmpty() && load.requestsPerSecond().isEmpty()
        && containerConcurrency == 0) {
      throw new IllegalArgumentException(
          id + " needs a target concurrency, a target rate or a container concurrency");
    }
  }

  /** The same, of which no leader has published anything. */
  public ScaledServiceSpec withoutLastDesired() {
    return new ScaledServiceSpec(id, workload, minReplicas, maxReplicas, load, containerConcurrency,
        window,
        requestTimeout, OptionalInt.empty(), warmTimes);
  }
}
