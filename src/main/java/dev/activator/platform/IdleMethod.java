package dev.activator.platform;

import dev.activator.kube.LeadershipCheck;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.loop.Loop;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScalingListener;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A way to put the last pods of a workload to sleep instead of removing them: an extension's reader and
 * client of {@code spec.idle}.
 *
 * @param <T> a workload with that field; it has no replicas while its pods are asleep
 */
public interface IdleMethod<T extends ScaleTarget> {
  Class<T> type();

  /**
   * The workload with its field. If there is only a state, because the field was removed, its pods are
   * woken.
   *
   * @throws IllegalArgumentException a sentence with the part of the field that is invalid
   */
  T target(ScaleTarget workload, IdleSpec idle);

  ScaleClient<T> client(Environment environment);

  /** What the client of such workloads may use. <b>Threads.</b> The autoscaler's loop. */
  interface Environment {
    Loop loop();

    Instant now();

    /** The client for scales, which exists once the activator has started. */
    KubernetesApiClient api();

    /** The client of the workloads without that field. */
    ScaleClient<ScaleTarget> workloads();

    LeadershipCheck leadership();

    ScalingListener events();

    /**
     * The pods that the Service of a ScaledService lists, asleep or not; null if that does not show which
     * there are, as while the Service is replaced.
     */
    CompletableFuture<@Nullable PodsByReadiness> pods(RevisionId id);

    /**
     * The activators that may still send something to the pods; empty if none does.
     *
     * @param written when the state was stored, in the loop's time
     */
    List<String> unacknowledged(RevisionId id, IdleState state, long written);

    /**
     * Sends requests of this activator to the pods while this is the state that it knows. Call once they
     * are awake, if they do not fall asleep in this state again.
     *
     * @param state null to send none any more
     */
    void woken(RevisionId id, @Nullable IdleState state);
  }
}
