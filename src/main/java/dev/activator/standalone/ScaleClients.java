package dev.activator.standalone;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.platform.WakeMethod;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The autoscaler's client of all targets: it passes each on to the client of its type. Requests to
 * the workload's Service are caught before its last replicas go.
 */
public final class ScaleClients implements ScaleClient<ScaleTarget> {
  private final Supplier<ActivatorEndpointSliceWriter> catcher;
  private final Consumer<ScaleApiResult> onWrite;
  private final Map<Class<?>, Entry<?>> clients = new HashMap<>();

  private record Entry<T extends ScaleTarget>(Class<T> type,
      ScaleClient<? super T> client) {
    CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget target) {
      return client.read(id, type.cast(target));
    }

    CompletableFuture<String> managerOfReplicas(RevisionId id, ScaleTarget target) {
      return client.managerOfReplicas(id, type.cast(target));
    }

    CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget target,
        ScaleApiResult.Found read, int replicas) {
      return client.write(id, type.cast(target), read, replicas);
    }
  }

  /** @param onWrite gets the answer to each write */
  ScaleClients(Supplier<ActivatorEndpointSliceWriter> catcher, Consumer<ScaleApiResult> onWrite) {
    this.catcher = catcher;
    this.onWrite = onWrite;
  }

  /** Sets the client of a type of targets. Call before the start. */
  public <T extends ScaleTarget> ScaleClients add(Class<T> type,
      ScaleClient<? super T> client) {
    clients.put(type, new Entry<>(type, client));
    return this;
  }

  /** Sets the client of what an extension starts and stops. Call before the start. */
  public <T extends ScaleTarget> void add(WakeMethod<T> method, Supplier<KubernetesApiClient> api) {
    add(method.type(), method.client(api));
  }

  private Entry<?> client(ScaleTarget target) {
    return Objects.requireNonNull(clients.get(target.getClass()), target::toString);
  }

  @Override
  public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id) {
    return catcher.get().prepareScaleToZero(id);
  }

  @Override
  public void cancelScaleToZero(RevisionId id) {
    catcher.get().cancelScaleToZero(id);
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget target) {
    return client(target).read(id, target);
  }

  @Override
  public CompletableFuture<String> managerOfReplicas(RevisionId id, ScaleTarget target) {
    return client(target).managerOfReplicas(id, target);
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget target,
      ScaleApiResult.Found read, int replicas) {
    return client(target).write(id, target, read, replicas).thenApply(answer -> {
      onWrite.accept(answer);
      return answer;
    });
  }
}
