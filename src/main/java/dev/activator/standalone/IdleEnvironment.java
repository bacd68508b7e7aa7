package dev.activator.standalone;

import dev.activator.kube.LeadershipCheck;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.loop.Loop;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScalingListener;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a mode gives to the client of workloads whose last pods are put to sleep.
 *
 * @param scales the client of those workloads, too
 */
public record IdleEnvironment(Loop loop, Supplier<KubernetesApiClient> client, ScaleClients scales,
    LeadershipCheck leadership, ScalingListener events, ScaledServices services,
    Activators activators) implements IdleMethod.Environment {
  /** Which activators may still send something to pods. */
  public interface Activators {
    /** As {@link IdleMethod.Environment#unacknowledged}. */
    List<String> unacknowledged(RevisionId id, IdleState state, long written);
  }

  @Override
  public Instant now() {
    return Clock.systemUTC().instant();
  }

  @Override
  public KubernetesApiClient api() {
    return client.get();
  }

  @Override
  public ScaleClient<ScaleTarget> workloads() {
    return scales;
  }

  @Override
  public CompletableFuture<@Nullable PodsByReadiness> pods(RevisionId id) {
    return services.pods(id);
  }

  @Override
  public List<String> unacknowledged(RevisionId id, IdleState state, long written) {
    return activators.unacknowledged(id, state, written);
  }

  @Override
  public void woken(RevisionId id, @Nullable IdleState state) {
    services.woken(id, state);
  }
}
