package dev.activator.kube.reflector;

import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.Informer;
import dev.activator.kube.informer.Informer.InformerStatus;
import dev.activator.kube.informer.VersionedObject;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The informers, one for each query. The users of an informer have leases; it is closed when the
 * last lease is closed.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Source.</b> client-go's {@code SharedInformerFactory}, which never stops informers.
 */
public final class SharedInformers {
  interface Sources {
    <F> ListerWatcher<ObjectDecodeResult<F>> of(InformerQuery<F> query);
  }

  private final Sources sources;
  private final ReflectorContext context;
  private final Map<InformerQuery<?>, Shared<?>> shared = new LinkedHashMap<>();
  private final ApiOutageLog outages;

  public SharedInformers(KubernetesApiClient api, ReflectorContext context) {
    this(new Sources() {
      @Override
      public <F> ListerWatcher<ObjectDecodeResult<F>> of(InformerQuery<F> query) {
        return new KubernetesListerWatcher<>(api, query, context.random());
      }
    }, context);
  }

  SharedInformers(Sources sources, ReflectorContext context) {
    this.sources = sources;
    this.context = context;
    this.outages = new ApiOutageLog(context.loop());
  }

  public synchronized <F> Lease<F> lease(InformerQuery<F> query) {
    @SuppressWarnings("unchecked") // The key in the map has the same type.
    var known = (Shared<F>) shared.get(query);
    var found = known == null ? begin(query) : known;
    found.leases++;
    return new Lease<>(found, () -> release(query, found));
  }

  private <F> Shared<F> begin(InformerQuery<F> query) {
    var informer = new Informer<ObjectDecodeResult<F>>(query.plural(), context.loop(),
        context.settings().auditPeriod(), query.kind()::stored);
    var reflector = new Reflector<>(query.plural(), query.text(), sources.of(query),
        informer.sink(),
        () -> versions(informer), context);
    var fresh = new Shared<>(informer, reflector);
    shared.put(query, fresh);
    reflector.onWatchChange(isOpen -> outages.changed(reflector, isOpen));
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

  private synchronized void release(InformerQuery<?> query, Shared<?> released) {
    released.leases--;
    if (released.leases == 0) {
      shared.remove(query);
      released.reflector.close();
      context.loop().execute(() -> outages.released(released.reflector));
      released.informer.close();
    }
  }

  public synchronized List<ReflectorStatus> reflectors() {
    return shared.values().stream().map(one -> one.reflector.view()).toList();
  }

  public synchronized List<InformerStatus> informers() {
    return shared.values().stream().map(one -> one.informer.view()).toList();
  }

  private static final class Shared<F> {
    private final Informer<ObjectDecodeResult<F>> informer;
    private final Reflector<ObjectDecodeResult<F>> reflector;
    private int leases;

    private Shared(Informer<ObjectDecodeResult<F>> informer,
        Reflector<ObjectDecodeResult<F>> reflector) {
      this.informer = informer;
      this.reflector = reflector;
    }
  }

  public static final class Lease<F> implements AutoCloseable {
    private final Shared<F> shared;
    private final Runnable release;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Lease(Shared<F> shared, Runnable release) {
      this.shared = shared;
      this.release = release;
    }

    public Informer<ObjectDecodeResult<F>> informer() {
      return shared.informer;
    }

    /** The current error, in one line; null if there is none. */
    public @Nullable String error() {
      return shared.reflector.error();
    }

    /**
     * Adds a listener that gets false when no watch has been open for a few seconds, and true when
     * one is open again.
     *
     * @param listener called on the loop
     */
    public void onWatchChange(Consumer<Boolean> listener) {
      shared.reflector.onWatchChange(listener);
    }

    public ReflectorStatus view() {
      return shared.reflector.view();
    }

    /** Closes the lease, and the informer if this is the last lease. Idempotent. */
    @Override
    public void close() {
      if (!closed.getAndSet(true)) {
        release.run();
      }
    }
  }
}
