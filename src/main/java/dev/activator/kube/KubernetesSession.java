package dev.activator.kube;

import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.InformerHandlerRegistration;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.kube.reflector.ApiErrorText;
import dev.activator.kube.reflector.SharedInformers;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.ReflectorContext;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.loop.Loop;
import dev.activator.loop.ThreadLoop;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One connection to the Kubernetes API: its client, the informers that use it, and the loop on
 * which informers call consumers.
 *
 * <p><b>Threads.</b> Events are decoded on the client's threads, then stored and delivered on the
 * loop. Consumers must not block.
 */
public final class KubernetesSession implements AutoCloseable {
  private static final Duration MAX_CLOSE_TIME = Duration.ofSeconds(5);

  private final KubernetesApiClient api;
  private final ApiErrorText errors;
  private final Loop loop;
  private final Runnable endOfLoop;
  private final SharedInformers informers;
  private final Set<Followed> followed = ConcurrentHashMap.newKeySet();
  /** What {@link #watch} has begun, and its caller has not closed. */
  private final Set<Followed> watched = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closed = new AtomicBoolean();

  public static final class Followed implements ClusterStartup.Beginning, AutoCloseable {
    private final SharedInformers.Lease<?> lease;
    private final InformerHandlerRegistration registration;
    private final Set<Followed> open;

    private Followed(SharedInformers.Lease<?> lease, InformerHandlerRegistration registration,
        Set<Followed> open) {
      this.lease = lease;
      this.registration = registration;
      this.open = open;
      open.add(this);
    }

    public SharedInformers.Lease<?> lease() {
      return lease;
    }

    @Override
    public CompletableFuture<Void> synced() {
      return registration.synced();
    }

    @Override
    public @Nullable String error() {
      return lease.error();
    }

    @Override
    public void close() {
      open.remove(this);
      registration.close();
      lease.close();
    }
  }

  /** @throws ClusterUnavailableException if the access is invalid */
  public static KubernetesSession open(ClusterAccess access, ReflectorSettings settings,
      RandomGenerator random) {
    var api = KubernetesClientFactory.open(access, KubernetesWriteRateLimiter.UNLIMITED);
    var loop = new ThreadLoop("cluster");
    var informers = new SharedInformers(api,
        new ReflectorContext(loop, settings, random, new ApiErrorText(api.url())));
    return new KubernetesSession(api, loop, loop::close, informers);
  }

  /** @param endOfLoop called when the session is closed */
  KubernetesSession(KubernetesApiClient api, Loop loop, Runnable endOfLoop,
      SharedInformers informers) {
    this.api = api;
    this.errors = new ApiErrorText(api.url());
    this.loop = loop;
    this.endOfLoop = endOfLoop;
    this.informers = informers;
  }

  public KubernetesApiClient api() {
    return api;
  }

  public ApiErrorText errors() {
    return errors;
  }

  public SharedInformers informers() {
    return informers;
  }

  public Loop loop() {
    return loop;
  }

  public <F> Followed follow(InformerQuery<F> query,
      DecodedObjectHandler.ChangeListener<F> listener) {
    return begin(query, _ -> listener, false, followed);
  }

  /** Follows the objects of a query. The listener gets each object again in each audit period. */
  public <F> Followed followAgain(InformerQuery<F> query,
      DecodedObjectHandler.ChangeListener<F> listener) {
    return begin(query, _ -> listener, true, followed);
  }

  /** Follows the objects of a query, with a listener that reads the store. */
  public <F> Followed followStored(InformerQuery<F> query,
      Function<IndexedStore<ObjectDecodeResult<F>>, DecodedObjectHandler.ChangeListener<F>> listener) {
    return begin(query, listener, true, followed);
  }

  /** Follows the objects of a query for some time. The caller closes the result. */
  public <F> Followed watch(InformerQuery<F> query,
      DecodedObjectHandler.ChangeListener<F> listener) {
    return begin(query, _ -> listener, false, watched);
  }

  private <F> Followed begin(InformerQuery<F> query,
      Function<IndexedStore<ObjectDecodeResult<F>>, DecodedObjectHandler.ChangeListener<F>> listener,
      boolean isResynced, Set<Followed> open) {
    var lease = informers.lease(query);
    var handler = new DecodedObjectHandler<>(query.kind(), listener.apply(lease.informer().store()),
        loop::nanoTime);
    return new Followed(lease, lease.informer().addHandler(handler,
        new InformerHandlerOptions(query.plural(), loop, isResynced)), open);
  }

  public boolean synced() {
    return !followed.isEmpty()
        && followed.stream().allMatch(one -> one.registration.hasSynced());
  }

  /** Ends the watches, then closes the client. No consumer is called afterwards. Idempotent. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    followed.forEach(Followed::close);
    watched.forEach(Followed::close);
    // This runs after the ends of the watches, which are already queued on the loop.
    CompletableFuture.runAsync(api::close, loop)
        .completeOnTimeout(null, MAX_CLOSE_TIME.toNanos(), TimeUnit.NANOSECONDS)
        .handle((_, _) -> null).join();
    endOfLoop.run();
  }
}
