package dev.activator.cluster.reflector;

import dev.activator.cluster.decode.Decoded;
import dev.activator.cluster.informer.Informer;
import dev.activator.cluster.informer.InformerView;
import dev.activator.cluster.informer.VersionedObject;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Shares one informer among all users of a query, from the first lease until the last is closed.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in.
 *
 * <p>
 * <b>Source.</b> {@code SharedInformerFactory} in client-go's {@code informers/factory.go}, which
 * keeps informers for ever.
 */
public final class Informers {
  /** Where the objects of a query come from. */
  interface Sources {
    <F> ListerWatcher<Decoded<F>> of(ResourceQuery<F> query);
  }

  private final Sources sources;
  private final ReflectorContext context;
  private final Map<ResourceQuery<?>, Shared<?>> shared = new LinkedHashMap<>();

  /** @param context its loop is where all informers store and decide */
  public Informers(KubernetesApi api, ReflectorContext context) {
    this(new Sources() {
      @Override
      public <F> ListerWatcher<Decoded<F>> of(ResourceQuery<F> query) {
        return new KubernetesListerWatcher<>(api, query, context.random());
      }
    }, context);
  }

  /** Informers of objects that come from elsewhere. */
  Informers(Sources sources, ReflectorContext context) {
    this.sources = sources;
    this.context = context;
  }

  /** An informer that is running, or begins to. */
  public synchronized <F> Lease<F> lease(ResourceQuery<F> query) {
    @SuppressWarnings("unchecked") // put there under an equal query, which names the type
    var known = (Shared<F>) shared.get(query);
    var found = known == null ? begin(query) : known;
    found.leases++;
    return new Lease<>(found, () -> release(query, found));
  }

  private <F> Shared<F> begin(ResourceQuery<F> query) {
    var informer = new Informer<Decoded<F>>(query.plural(), context.loop(),
        context.settings().auditPeriod(), query.kind()::stored);
    var reflector = new Reflector<>(query.plural(), sources.of(query), informer.sink(),
        () -> versions(informer), context);
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

  private synchronized void release(ResourceQuery<?> query, Shared<?> released) {
    released.leases--;
    if (released.leases == 0) {
      shared.remove(query);
      released.reflector.close();
      released.informer.close();
    }
  }

  /** The state of each list and watch, in the order they began. */
  public synchronized List<ReflectorView> reflectors() {
    return shared.values().stream().map(one -> one.reflector.view()).toList();
  }

  /** The state of each store and its handlers, in the order they began. */
  public synchronized List<InformerView> informers() {
    return shared.values().stream().map(one -> one.informer.view()).toList();
  }

  /** An informer, what feeds it, and how many use it. */
  private static final class Shared<F> {
    private final Informer<Decoded<F>> informer;
    private final Reflector<Decoded<F>> reflector;
    private int leases;

    private Shared(Informer<Decoded<F>> informer, Reflector<Decoded<F>> reflector) {
      this.informer = informer;
      this.reflector = reflector;
    }
  }

  /** A share in an informer, until it is closed. */
  public static final class Lease<F> implements AutoCloseable {
    private final Shared<F> shared;
    private final Runnable release;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(Shared<F> shared, Runnable release) {
      this.shared = shared;
      this.release = release;
    }

    public Informer<Decoded<F>> informer() {
      return shared.informer;
    }

    /** What is wrong with it now, in a line; null if nothing is. */
    public @Nullable String complaint() {
      return shared.reflector.complaint();
    }

    public ReflectorView view() {
      return shared.reflector.view();
    }

    /** Ends it where nothing else uses it. Idempotent. */
    @Override
    public void close() {
      if (!closed.getAndSet(true)) {
        release.run();
      }
    }
  }
}
