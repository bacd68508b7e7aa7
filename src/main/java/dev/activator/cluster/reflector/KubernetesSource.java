package dev.activator.cluster.reflector;

import dev.activator.cluster.informer.VersionedObject;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The client library's informer, with exactly one handler, as a source. It never gives up by itself:
 * whatever fails is reported and tried again.
 *
 * <p>
 * <b>Threads.</b> The library calls in on its own threads, one at a time; blocking lists run on the
 * executor.
 */
final class KubernetesSource<I extends HasMetadata> implements Source<I> {
  private final FilterWatchListDeletable<I, ? extends KubernetesResourceList<I>, ?> objects;
  private final Executor executor;

  KubernetesSource(FilterWatchListDeletable<I, ? extends KubernetesResourceList<I>, ?> objects,
      Executor executor) {
    this.objects = objects;
    this.executor = executor;
  }

  @Override
  public Session open(List<VersionedObject<I>> known, Listener<I> listener) {
    var informer = objects.runnableInformer(0).removeNamespaceIndex()
        .exceptionHandler((_, failure) -> {
          listener.failed(failure);
          return true;
        });
    if (!known.isEmpty()) {
      informer.initialState(known.stream().map(VersionedObject::object));
    }
    informer.addEventHandler(new Handler<>(listener));
    informer.stopped().whenComplete((_, failure) -> listener.ended(failure));
    informer.start();
    return new Informing(informer);
  }

  @Override
  public CompletableFuture<Map<String, String>> versions() {
    return CompletableFuture.supplyAsync(() -> {
      var versions = new HashMap<String, String>();
      // Without a resourceVersion: the newest there is, not what some cache has.
      for (var item : objects.list(new ListOptionsBuilder().build()).getItems()) {
        versions.put(keyOf(item), textOf(item.getMetadata().getResourceVersion()));
      }
      return versions;
    }, executor);
  }

  @Override
  public CompletableFuture<Void> glance() {
    return CompletableFuture.runAsync(
        () -> objects.list(new ListOptionsBuilder().withLimit(1L).build()), executor);
  }

  /** Empty if it has no name. */
  private static String keyOf(HasMetadata item) {
    var metadata = item.getMetadata();
    var name = textOf(metadata.getName());
    return metadata.getNamespace() == null || name.isEmpty()
        ? name
        : metadata.getNamespace() + "/" + name;
  }

  private static String textOf(@Nullable String text) {
    return Objects.requireNonNullElse(text, "");
  }

  private record Informing(SharedIndexInformer<?> informer) implements Session {
    @Override
    public boolean watching() {
      return informer.isWatching();
    }

    @Override
    public @Nullable String resourceVersion() {
      return informer.lastSyncResourceVersion();
    }

    @Override
    public void close() {
      informer.stop();
    }
  }

  /** What the library calls: adds, updates and deletes between the two calls about a list. */
  private record Handler<I extends HasMetadata>(
      Listener<I> listener) implements ResourceEventHandler<I> {
    @Override
    public void onBeforeList(@Nullable String lastResourceVersion) {
      listener.listing();
    }

    @Override
    public void onList(@Nullable String resourceVersion, boolean remainedEmpty) {
      listener.listed(textOf(resourceVersion));
    }

    @Override
    public void onAdd(I item) {
      put(item);
    }

    @Override
    public void onUpdate(I before, I now) {
      put(now);
    }

    @Override
    public void onDelete(I item, boolean finalStateUnknown) {
      listener.removed(sighting(item));
    }

    private void put(I item) {
      listener.put(sighting(item));
    }

    private VersionedObject<I> sighting(I item) {
      var metadata = item.getMetadata();
      return new VersionedObject<>(keyOf(item), textOf(metadata.getUid()),
          textOf(metadata.getResourceVersion()), item);
    }
  }
}
