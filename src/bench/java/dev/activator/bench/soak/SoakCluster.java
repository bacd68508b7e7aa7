package dev.activator.bench.soak;

import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.standalone.autoscaler.ReportBatch;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.testing.SecureApi;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.node.ObjectNode;

/**
 * A cluster with Knative around the activator: the API over TLS, an autoscaler that starts the first pod of a
 * revision, and pods on addresses of the loopback network.
 *
 * <p><b>Threads.</b> Any. While the API is away, what would write to it waits.
 */
final class SoakCluster implements AutoCloseable {
  static final String NAMESPACE = "soak";
  private static final String SYSTEM = "knative-serving";
  /** How long a pod that is no longer listed still answers, as Kubernetes lets it. */
  private static final Duration TERMINATION_GRACE = Duration.ofSeconds(25);
  private static final int FIRST_NETWORK = 16;
  /** Of pods that run or still end; more where they come and go faster. */
  private static final int OWN_ADDRESSES = 8;
  private static final int SHARED_ADDRESSES = 250;
  private static final int AUTOSCALER_PORT = FreePort.next();
  private static final int POD_PORT = FreePort.next();

  /** A revision, its pods, and when one of them was killed. */
  static final class Deployed {
    private final String name;
    private final String uid;
    private final Addresses addresses;
    private final List<SoakPod> pods = new ArrayList<>();
    private final Map<String, Boolean> killedRequests = new ConcurrentHashMap<>();
    private volatile boolean scales = true;
    private volatile long lastKill = Long.MIN_VALUE;

    private Deployed(String name, String uid, Addresses addresses) {
      this.name = name;
      this.uid = uid;
      this.addresses = addresses;
    }

    String name() {
      return name;
    }

    /** No longer gets a pod when requests wait. */
    void staysAtZero() {
      scales = false;
    }

    /** Whether a pod that was killed had this request. */
    boolean killed(String id) {
      return killedRequests.containsKey(id);
    }

    /** Whether a pod was killed since then: a request may have been on its way. */
    boolean killedSince(long nanos) {
      return lastKill != Long.MIN_VALUE && lastKill - nanos >= 0;
    }
  }

  /** Addresses of pods, used again in turn as a cluster's are. */
  private static final class Addresses {
    private final BlockingQueue<String> free = new LinkedBlockingQueue<>();

    /** @param network the second number of all addresses */
    Addresses(int network, int count) {
      for (int i = 0; i < count; i++) {
        free.add("127." + network + "." + i / 250 + "." + (1 + i % 250));
      }
    }
  }

  private final SecureApi api;
  private final LoopResources loops = LoopResources.create("soak", 1, true);
  private final ReentrantReadWriteLock apiIsThere = new ReentrantReadWriteLock(true);
  private final Map<String, Deployed> deployed = new ConcurrentHashMap<>();
  private final AtomicInteger networks = new AtomicInteger(FIRST_NETWORK);
  private final int ownAddresses;
  private final Addresses shared;
  private final AtomicInteger deleted = new AtomicInteger();
  private final AtomicInteger killed = new AtomicInteger();
  private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor(
      task -> Thread.ofPlatform().daemon().name("later").unstarted(task));
  private final @Nullable SslContext podTls;
  private StatsServer autoscaler;

  /**
   * @param rate how fast pods come and go; 1 as by default
   * @param tlsToPods whether it has {@code system-internal-tls}
   */
  SoakCluster(double rate, boolean tlsToPods) throws GeneralSecurityException, IOException {
    ownAddresses = (int) Math.ceil(OWN_ADDRESSES * Math.max(1, rate));
    shared = new Addresses(networks.getAndIncrement(),
        (int) Math.ceil(SHARED_ADDRESSES * Math.max(1, rate)));
    api = Certificate.rsa().api();
    DefaultConfigMapCreator.createIn(api.store());
    podTls = tlsToPods ? podTls() : null;
    autoscaler = startAutoscaler();
  }

  /** What pods show, which an authority of a trust bundle vouches for; the activator has its own certificate. */
  private SslContext podTls() throws GeneralSecurityException, IOException {
    var routing = Authority.named("routing");
    var pods = Authority.named("pods");
    var own = routing.issue("kn-routing", "data-plane.knative.dev");
    api.store().create(BuiltInKinds.SECRET, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Secret',
         'metadata': {'namespace': '%s', 'name': 'routing-serving-certs'},
         'data': {'tls.crt': '%s', 'tls.key': '%s', 'ca.crt': '%s'}}
        """.formatted(SYSTEM, base64(own.pem()), base64(own.keyPem()), base64(routing.pem()))));
    var bundle = Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'ConfigMap',
         'metadata': {'namespace': '%s', 'name': 'pods',
           'labels': {'networking.knative.dev/trust-bundle': 'true'}}, 'data': {}}
        """.formatted(SYSTEM));
    bundle.withObjectProperty("data").put("ca.crt", pods.pem());
    api.store().create(BuiltInKinds.CONFIG_MAP, bundle);
    configure("config-network", "system-internal-tls", "enabled");
    var shown = pods.issue("data-plane.knative.dev", "kn-user-" + NAMESPACE);
    return Http2SslContextSpec.forServer(shown.key(), shown.certificate()).sslContext();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  SecureApi api() {
    return api;
  }

  String autoscalerUrl() {
    return "ws://127.0.0.1:" + AUTOSCALER_PORT;
  }

  /** How many revisions were deleted so far. */
  int deleted() {
    return deleted.get();
  }

  /** How many pods were killed so far. */
  int killed() {
    return killed.get();
  }

  void resetCounts() {
    deleted.set(0);
    killed.set(0);
  }

  /** The names of the revisions that there are. */
  List<String> revisions() {
    return deployed.keySet().stream().sorted().toList();
  }

  /** A revision that stays, with pods on addresses of its own. */
  Deployed create(String name, int containerConcurrency, int podCount) {
    return create(name, containerConcurrency, podCount,
        new Addresses(networks.getAndIncrement(), ownAddresses));
  }

  /** A revision at zero that is deleted before long; its pods have addresses that others had. */
  Deployed createBriefly(String name, int containerConcurrency) {
    return create(name, containerConcurrency, 0, shared);
  }

  private Deployed create(String name, int containerConcurrency, int podCount,
      Addresses addresses) {
    return written(() -> {
      var revision = api.store().create(BuiltInKinds.REVISION, Objects.parse("""
          {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
           'metadata': {'namespace': '%s', 'name': '%s', 'labels':
             {'serving.knative.dev/configuration': '%2$s', 'serving.knative.dev/service': '%2$s'}},
           'spec': {'timeoutSeconds': 300, 'containerConcurrency': %d,
             'containers': [{'image': 'soak'}]}}
          """.formatted(NAMESPACE, name, containerConcurrency)));
      var made = new Deployed(name, ObjectMeta.uid(revision), addresses);
      for (int i = 0; i < podCount; i++) {
        made.pods.add(newPod(made));
      }
      api.store().create(BuiltInKinds.ENDPOINT_SLICE, slice(made));
      deployed.put(name, made);
      return made;
    });
  }

  /** Deletes a revision with all that belongs to it; its pods still answer for a while. */
  void delete(Deployed revision) {
    written(() -> {
      deployed.remove(revision.name);
      List<Runnable> deletions = List.of(
          () -> api.store().delete(BuiltInKinds.REVISION, NAMESPACE, revision.name),
          () -> api.store().delete(BuiltInKinds.ENDPOINT_SLICE, NAMESPACE, sliceName(revision)));
      // Controllers delete them in any order.
      (ThreadLocalRandom.current().nextBoolean() ? deletions : deletions.reversed())
          .forEach(Runnable::run);
      terminate(revision, revision.pods);
      return deleted.incrementAndGet();
    });
  }

  /** Gives a revision as many pods. */
  void scale(Deployed revision, int podCount) {
    written(() -> {
      if (deployed.get(revision.name) != revision) {
        return 0;
      }
      var gone = new ArrayList<SoakPod>();
      while (revision.pods.size() > podCount) {
        gone.add(revision.pods.removeFirst());
      }
      while (revision.pods.size() < podCount) {
        revision.pods.add(newPod(revision));
      }
      list(revision);
      terminate(revision, gone);
      return podCount;
    });
  }

  /** Replaces a pod in order: the new one first. */
  void roll(Deployed revision, int podCount) {
    scale(revision, podCount + 1);
    scale(revision, podCount);
  }

  /** A pod is killed; a second later, or when the API is back, it is no longer listed and another is there. */
  void kill(Deployed revision) {
    SoakPod victim;
    synchronized (api) {
      if (revision.pods.isEmpty()) {
        return;
      }
      victim = revision.pods.get(ThreadLocalRandom.current().nextInt(revision.pods.size()));
      victim.running().forEach(id -> revision.killedRequests.put(id, true));
      revision.lastKill = System.nanoTime();
      killed.incrementAndGet();
      victim.kill();
      victim.running().forEach(id -> revision.killedRequests.put(id, true));
    }
    SoakDrill.pause(Duration.ofSeconds(1));
    written(() -> {
      revision.pods.remove(victim);
      revision.addresses.free.add(victim.ip());
      revision.pods.add(newPod(revision));
      list(revision);
      return 1;
    });
  }

  /** Neither API nor controllers for a while. */
  void apiIsAway(Duration time) {
    apiIsThere.writeLock().lock();
    try {
      api.stop();
      SoakDrill.pause(time);
      api.startAgain();
    } finally {
      apiIsThere.writeLock().unlock();
    }
  }

  void autoscalerIsAway(Duration time) {
    autoscaler.stop();
    SoakDrill.pause(time);
    autoscaler = startAutoscaler();
  }

  /** Sets a key of one of Knative's ConfigMaps. */
  void configure(String map, String key, String value) {
    written(() -> api.store().edit(BuiltInKinds.CONFIG_MAP, SYSTEM, map, object -> {
      object.withObjectProperty("data").put(key, value);
      return object;
    }));
  }

  private StatsServer startAutoscaler() {
    var server = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", AUTOSCALER_PORT), this::reported);
    server.start();
    return server;
  }

  private void reported(ReportBatch batch) {
    for (var entry : batch.entries()) {
      var revision = deployed.get(entry.revision().name());
      if (revision != null && revision.scales && entry.sample().concurrency() > 0) {
        later.schedule(() -> Thread.startVirtualThread(() -> startFirstPod(revision)),
            ThreadLocalRandom.current().nextInt(50, 400), TimeUnit.MILLISECONDS);
      }
    }
  }

  private void startFirstPod(Deployed revision) {
    written(() -> {
      if (revision.pods.isEmpty() && deployed.get(revision.name) == revision && revision.scales) {
        revision.pods.add(newPod(revision));
        list(revision);
      }
      return 0;
    });
  }

  private void terminate(Deployed revision, List<SoakPod> gone) {
    for (var pod : List.copyOf(gone)) {
      later.schedule(() -> {
        pod.close();
        revision.addresses.free.add(pod.ip());
      }, TERMINATION_GRACE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private interface Write<R> {
    R apply();
  }

  /** One write at a time, and none while the API is away. */
  private <R> R written(Write<R> write) {
    Lock lock = apiIsThere.readLock();
    lock.lock();
    try {
      synchronized (api) {
        return write.apply();
      }
    } finally {
      lock.unlock();
    }
  }

  private SoakPod newPod(Deployed revision) {
    var address = revision.addresses.free.poll();
    if (address == null) {
      throw new IllegalStateException("no address is free for a pod of " + revision.name);
    }
    return new SoakPod(loops, address, POD_PORT, podTls);
  }

  private void list(Deployed revision) {
    api.store().writes().update(BuiltInKinds.ENDPOINT_SLICE, slice(revision));
  }

  private static String sliceName(Deployed revision) {
    return revision.name + "-private-soak";
  }

  private static ObjectNode slice(Deployed revision) {
    var endpoints = new StringBuilder();
    for (var pod : revision.pods) {
      endpoints.append(endpoints.isEmpty() ? "" : ", ").append(
          "{'addresses': ['" + pod.ip() + "'], 'conditions': {'ready': true}}");
    }
    return Objects.parse("""
        {'apiVersion': 'discovery.k8s.io/v1', 'kind': 'EndpointSlice', 'addressType': 'IPv4',
         'metadata': {'namespace': '%s', 'name': '%s', 'labels': {
           'serving.knative.dev/revision': '%s', 'serving.knative.dev/revisionUID': '%s',
           'kubernetes.io/service-name': '%3$s-private',
           'networking.internal.knative.dev/serviceType': 'Private'}},
         'endpoints': [%s], 'ports': [{'name': 'http', 'port': %d}]}
        """.formatted(NAMESPACE, sliceName(revision), revision.name, revision.uid, endpoints,
        POD_PORT));
  }

  @Override
  public void close() {
    later.shutdownNow();
    autoscaler.stop();
    api.close();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block(Duration.ofSeconds(10));
  }

  /** A revision by its name; null if there is none. */
  @Nullable Deployed find(String name) {
    return deployed.get(name);
  }
}
