package dev.activator.cluster.reflector;

import dev.activator.cluster.informer.Informer;
import dev.activator.cluster.informer.InformerView;
import dev.activator.cluster.informer.VersionedObject;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One informer for all who ask the same, from the first who does until the last is done with it.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in.
 *
 * <p>
 * <b>Source.</b> {@code SharedInformerFactory} in client-go's {@code informers/factory.go}, which
 * keeps informers for ever.
 */
public final class Informers {
  private final KubernetesClient client;
  private final Executor executor;
  private final ReflectorContext upkeep;
  private final Map<Query<?, ?>, Shared<?>> shared = new LinkedHashMap<>();

  /**
   * @param executor for lists that block
   * @param upkeep its loop is where all informers store and decide
   */
  public Informers(KubernetesClient client, Executor executor, ReflectorContext upkeep) {
    this.client = client;
    this.executor = executor;
    this.upkeep = upkeep;
  }

  /** An informer that is running, or begins to. */
  public synchronized <I extends HasMetadata, L extends KubernetesResourceList<I>> Lease<I> lease(
      Query<I, L> query) {
    @SuppressWarnings("unchecked") // put there under an equal query, which names the type
    var known = (Shared<I>) shared.get(query);
    var found = known == null ? begin(query) : known;
    found.leases++;
    return new Lease<>(found, () -> release(query, found));
  }

  private <I extends HasMetadata, L extends KubernetesResourceList<I>> Shared<I> begin(
      Query<I, L> query) {
    var informer = new Informer<I>(query.plural(), upkeep.loop());
    var reflector = new Reflector<>(query.plural(),
        new KubernetesSource<>(query.of(client), executor), informer.sink(),
        () -> versions(informer), upkeep);
    var fresh = new Shared<>(informer, reflector);
    shared.put(query, fresh);
    informer.start();
    reflector.start();
    return fresh;
  }

  private static Map<String, String> versions(Informer<?> informer) {
    var versions = new HashMap<String, String>();
    for (VersionedObject<?> one : informer.store().all()) {
      versions.put(one.key(), one.resourceVersion());
    }
    return versions;
  }

  private synchronized void release(Query<?, ?> query, Shared<?> released) {
    released.leases--;
    if (released.leases == 0) {
      shared.remove(query);
      released.reflector.close();
      released.informer.close();
    }
  }

  /** How each list and watch is doing, in the order they began. */
  public synchronized List<ReflectorView> reflectors() {
    return shared.values().stream().map(one -> one.reflector.view()).toList();
  }

  /** What each store holds and whom it tells, in the order they began. */
  public synchronized List<InformerView> informers() {
    return shared.values().stream().map(one -> one.informer.view()).toList();
  }

  /** Something happened to the threads of the client: no watch is to be trusted. */
  public synchronized void distrust(String reason) {
    shared.values().forEach(one -> one.reflector.distrust(reason));
  }

  /** An informer, what feeds it, and how many use it. */
  private static final class Shared<I> {
    private final Informer<I> informer;
    private final Reflector<I> reflector;
    private int leases;

    private Shared(Informer<I> informer, Reflector<I> reflector) {
      this.informer = informer;
      this.reflector = reflector;
    }
  }

  /** The use of an informer, until it is closed. */
  public static final class Lease<I> implements AutoCloseable {
    private final Shared<I> shared;
    private final Runnable release;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(Shared<I> shared, Runnable release) {
      this.shared = shared;
      this.release = release;
    }

    public Informer<I> informer() {
      return shared.informer;
    }

    /** What is wrong with it now, in a line; null if nothing is. */
    public @Nullable String complaint() {
      return shared.reflector.complaint();
    }

    public ReflectorView view() {
      return shared.reflector.view();
    }

    /** Ends it where nobody else uses it. Twice is once. */
    @Override
    public void close() {
      if (!closed.getAndSet(true)) {
        release.run();
      }
    }
  }
}
