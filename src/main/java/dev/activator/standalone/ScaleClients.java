package dev.activator.standalone;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.WakeMethod;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The autoscaler's client of all targets: it passes each on to the client of its type. Requests to
 * the workload's Service are caught before its last replicas go.
 */
public final class ScaleClients implements ScaleClient<ScaleTarget> {
  private static final Duration MAX_PREPARATION = Duration.ofSeconds(2);

  private final Supplier<ActivatorEndpointSliceWriter> catcher;
  private final Consumer<ScaleApiResult> onWrite;
  private final Map<Class<?>, ScaleClient<?>> clients = new HashMap<>();
  private final List<Function<RevisionId, CompletableFuture<Void>>> preparations = new ArrayList<>();

  /** @param onWrite gets the answer to each write */
  ScaleClients(Supplier<ActivatorEndpointSliceWriter> catcher, Consumer<ScaleApiResult> onWrite) {
    this.catcher = catcher;
    this.onWrite = onWrite;
  }

  /** Sets the client of a type of targets. Call before the start. */
  public <T extends ScaleTarget> ScaleClients add(Class<T> type,
      ScaleClient<? super T> client) {
    clients.put(type, client);
    return this;
  }

  /** Sets the client of what an extension starts and stops. Call before the start. */
  public <T extends ScaleTarget> void add(WakeMethod<T> method, Supplier<KubernetesApiClient> api) {
    add(method.type(), method.client(api));
  }

  /** Adds what happens before some replicas of a workload are removed. Call before the start. */
  public void beforeScaleDown(Function<RevisionId, CompletableFuture<Void>> preparation) {
    preparations.add(preparation);
  }

  /** Sets the client of what an extension puts to sleep. Call before the start. */
  public <T extends ScaleTarget> void add(IdleMethod<T> method,
      IdleMethod.Environment environment) {
    add(method.type(), method.client(environment));
  }

  /** The client of the target's type, with which it was added. */
  @SuppressWarnings("unchecked")
  private ScaleClient<ScaleTarget> client(ScaleTarget target) {
    return (ScaleClient<ScaleTarget>) Objects.requireNonNull(clients.get(target.getClass()),
        target::toString);
  }

  @Override
  public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id, ScaleTarget target,
      Duration drain) {
    return client(target).prepareScaleToZero(id, target, drain).thenCombine(
        catcher.get().prepareScaleToZero(id), Boolean::logicalAnd);
  }

  @Override
  public void cancelScaleToZero(RevisionId id, ScaleTarget target) {
    client(target).cancelScaleToZero(id, target);
    catcher.get().cancelScaleToZero(id);
  }

  @Override
  public CompletableFuture<Void> prepareScaleDown(RevisionId id) {
    var all = CompletableFuture.allOf(preparations.stream().map(one -> one.apply(id))
        .toArray(CompletableFuture[]::new));
    return all.isDone()
        ? CompletableFuture.completedFuture(null)
        : all.completeOnTimeout(null, MAX_PREPARATION.toMillis(), TimeUnit.MILLISECONDS)
            .exceptionally(_ -> null);
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

  @Override
  public Change change(RevisionId id, ScaleTarget target, int from, int to) {
    return client(target).change(id, target, from, to);
  }
}
