package dev.activator.cluster;

import dev.activator.cluster.decode.Item;
import dev.activator.cluster.informer.HandlerOptions;
import dev.activator.cluster.informer.Registration;
import dev.activator.cluster.reflector.ApiErrors;
import dev.activator.cluster.reflector.Informers;
import dev.activator.cluster.reflector.Query;
import dev.activator.cluster.reflector.ReflectorContext;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.loop.Loop;
import dev.activator.loop.ThreadLoop;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What there is between the start of a cluster and its end: a client, its threads, the informers and
 * who listens to them.
 *
 * <p>
 * <b>Threads.</b> Informers store and decide on one thread of ours and tell on another, so that who
 * listens never holds up what is stored. The client has its own.
 */
public final class KubernetesSession implements AutoCloseable {
  private static final Duration LONGEST_END = Duration.ofSeconds(5);

  private final KubernetesClient client;
  private final TaskThreads tasks;
  private final ThreadLoop storing = new ThreadLoop("informers");
  private final ThreadLoop telling = new ThreadLoop("cluster news");
  private final Informers informers;
  private final List<Followed> followed = new CopyOnWriteArrayList<>();
  /** Those that nobody waits for. */
  private final List<Followed> begun = new CopyOnWriteArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  /** A kind of object that is listened to. */
  public record Followed(Informers.Lease<?> lease, Registration registration,
      CompletableFuture<Void> told) implements Startup.Beginning {
    @Override
    public @Nullable String complaint() {
      return lease.complaint();
    }
  }

  private KubernetesSession(ClusterAccess access, ReflectorSettings settings,
      RandomGenerator random) {
    this.tasks = new TaskThreads(this::distrust);
    this.client = Connection.open(access, random, tasks);
    this.informers = new Informers(client, tasks,
        new ReflectorContext(storing, settings, random, new ApiErrors(url())));
  }

  /**
   * A client that is connected to nothing yet.
   *
   * @throws ClusterUnavailableException if there is no such configuration
   */
  public static KubernetesSession open(ClusterAccess access, ReflectorSettings settings,
      RandomGenerator random) {
    return new KubernetesSession(access, settings, random);
  }

  /** Where the API is, for people. */
  public String url() {
    return client.getMasterUrl().toString();
  }

  /** The one that everything here shares; it ends with {@link #close}. */
  public KubernetesClient client() {
    return client;
  }

  /** What is mirrored: each kind once, however many listen to it. */
  public Informers informers() {
    return informers;
  }

  /** Tells of each change of meaning; of a flood of changes to one object, only what remains. */
  public <F, I extends Item<F>, L extends KubernetesResourceList<I>> Followed follow(
      Query<I, L> query,
      FactHandler.Listener<F> listener) {
    return expect(begin(query, listener));
  }

  /** Tells in the same way, and nobody waits for its first list unless it is expected. */
  public <F, I extends Item<F>, L extends KubernetesResourceList<I>> Followed begin(
      Query<I, L> query,
      FactHandler.Listener<F> listener) {
    var lease = informers.lease(query);
    var registration = lease.informer().addHandler(new FactHandler<F, I>(listener),
        HandlerOptions.on(telling, query.plural()));
    var one = new Followed(lease, registration, registration.synced());
    begun.add(one);
    return one;
  }

  /** Without its first list not all is known. */
  public Followed expect(Followed one) {
    followed.add(one);
    begun.remove(one);
    return one;
  }

  /** Another one tells the same. */
  public void replace(Followed last, Followed now) {
    expect(now);
    end(last);
  }

  /** It tells nothing more. */
  public void end(Followed one) {
    followed.remove(one);
    begun.remove(one);
    one.registration().close();
    one.lease().close();
  }

  /** Tells in the same way, but only until it is closed, and nobody waits for its first list. */
  public <F, I extends Item<F>, L extends KubernetesResourceList<I>> AutoCloseable glance(
      Query<I, L> query, FactHandler.Listener<F> listener) {
    var lease = informers.lease(query);
    var registration = lease.informer().addHandler(new FactHandler<F, I>(listener),
        HandlerOptions.on(telling, query.plural()));
    return () -> {
      registration.close();
      lease.close();
    };
  }

  /** Where all is told. */
  public Loop telling() {
    return telling;
  }

  /** Where what blocks may run. */
  public Executor tasks() {
    return tasks;
  }

  private void distrust(String reason) {
    informers.distrust(reason);
  }

  /** Whether everything there was at the start has been told. */
  public boolean synced() {
    return !followed.isEmpty()
        && followed.stream().allMatch(one -> one.registration().hasSynced());
  }

  /** Tells nothing more, ends the watches, and then the client. Twice is once. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    var all = Stream.concat(followed.stream(), begun.stream()).toList();
    all.forEach(one -> one.registration().close());
    all.forEach(one -> one.lease().close());
    // Behind the ends of the watches, which are under way on that loop.
    var ended = CompletableFuture.runAsync(client::close, storing);
    ended.completeOnTimeout(null, LONGEST_END.toNanos(), TimeUnit.NANOSECONDS)
        .handle((_, _) -> null).join();
    // Not before: until then the client's threads may still tell something.
    storing.close();
    telling.close();
    tasks.close();
  }
}
