package dev.activator.bench.tcp;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.testing.SecureApi;
import dev.activator.testing.activators.ActivatorProcess;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * A cluster without Knative with one ScaledService over TCP, the pods of its Deployment, and activators, each in a
 * separate process with an address of loopback. This process is the rest: the API over TLS, the controllers,
 * the nodes.
 *
 * <p>A pod starts as in Kubernetes: it is listed as not ready, listens after a delay, and is listed as ready later.
 * When it is to end, it is listed as terminating, and still listens for a moment.
 *
 * <p><b>Threads.</b> One starts and ends activators; any may read.
 */
final class TcpCluster implements AutoCloseable {
  static final int LIMIT = 4;
  static final int MAX_PODS = 4;
  private static final String SYSTEM = "knative-serving";
  private static final String SHOP = "shop";
  private static final String NAME = "db";
  private static final String LEASE = "activator";
  private static final long LISTENS_WHILE_ENDING_MILLIS = 1500;
  private static final long SAMPLE_MILLIS = 5;

  /** An activator's process. */
  static final class Activator {
    final String name;
    private final String address;
    private final int metrics;
    private final Process process;
    private volatile boolean killed;

    private Activator(String name, String address, int metrics, Process process) {
      this.name = name;
      this.address = address;
      this.metrics = metrics;
      this.process = process;
    }

    InetSocketAddress at(int port) {
      return new InetSocketAddress(address, port);
    }

    boolean wasKilled() {
      return killed;
    }
  }

  private final PodRecords records;
  private final Path program;
  private final SecureApi api = Certificate.rsa().api();
  private final ApiStore store = api.store();
  private final HttpClient http = HttpClient.newHttpClient();
  private final EventLoopGroup nodes = new MultiThreadIoEventLoopGroup(1,
      EpollIoHandler.newFactory());
  private final ScheduledExecutorService controllers = Executors
      .newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("controllers").factory());
  private final Random random = new Random(1);
  private final int podPort = FreePort.next();
  private final int links = FreePort.next();
  private final int stats = FreePort.next();
  private final int tcpPort = FreePort.next();
  private final List<NumberedPod> pods = new CopyOnWriteArrayList<>();
  private final List<Listed> listed = new ArrayList<>();
  private final List<Runnable> atZero = new CopyOnWriteArrayList<>();
  private final List<Activator> activators = new CopyOnWriteArrayList<>();
  private final AtomicInteger kills = new AtomicInteger();
  private final AtomicInteger endedKills = new AtomicInteger();
  private final AtomicInteger zeros = new AtomicInteger();
  private final AtomicLong freeNanos = new AtomicLong();
  private long sampledAt = System.nanoTime();
  private boolean wasFree;
  private volatile boolean isFull;
  private int wanted;
  private int started;

  /** A pod as its EndpointSlice lists it. */
  private static final class Listed {
    private final NumberedPod pod;
    private boolean ready;
    private boolean terminating;

    Listed(NumberedPod pod) {
      this.pod = pod;
    }
  }

  TcpCluster(Path program, PodRecords records) throws Exception {
    this.program = program;
    this.records = records;
    DefaultConfigMapCreator.createIn(store);
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': '%s', 'name': '%s'}, 'spec': {'replicas': 0, 'template':
         {'spec': {'containers': [{'name': 'db', 'image': 'i'}]}}}}""".formatted(SHOP, NAME)));
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': '%s', 'name': '%s'}, 'spec': {'selector': {'app': 'db'},
         'ports': [{'name': 'db', 'port': 5432}]}}""".formatted(SHOP, NAME)));
    list(SHOP, NAME, podPort, "");
    list(SYSTEM, "activator", 8012, "");
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': '%s', 'name': '%s'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': '%s'},
         'serviceRef': {'name': '%s'}, 'ports': [{'port': 'db', 'protocol': 'tcp'}],
         'containerConcurrency': %d, 'target': {'concurrency': %d}, 'maxReplicas': %d,
         'timeoutSeconds': 120, 'scaleDown': {'stabilizationWindowSeconds': 6}}}"""
        .formatted(SHOP, NAME, NAME, NAME, LIMIT, LIMIT, MAX_PODS)));
    store.subscribe(BuiltInKinds.DEPLOYMENT, controllers, this::onDeployment);
    controllers.scheduleWithFixedDelay(this::sample, SAMPLE_MILLIS, SAMPLE_MILLIS,
        TimeUnit.MILLISECONDS);
  }

  /** A place that is free in two samples is one that nothing has taken meanwhile. */
  private void sample() {
    long now = System.nanoTime();
    boolean isFree = listed.stream().anyMatch(one -> one.ready && !one.terminating
        && !one.pod.wasKilled() && one.pod.connections() < LIMIT);
    if (isFree && wasFree) {
      freeNanos.addAndGet(now - sampledAt);
    }
    wasFree = isFree;
    sampledAt = now;
    isFull = pods.stream().mapToInt(NumberedPod::clients).sum() >= LIMIT * MAX_PODS;
  }

  /** Whether the pods have as many connections of clients as they may. */
  boolean isFull() {
    return isFull;
  }

  /** For how long, in all, a ready pod had a free place. */
  long freeNanos() {
    return freeNanos.get();
  }

  private void list(String namespace, String service, int port, String endpoints) {
    var name = service + "-slice";
    var slice = Objects.parse("""
        {'apiVersion': 'discovery.k8s.io/v1', 'kind': 'EndpointSlice',
         'metadata': {'namespace': '%s', 'name': '%s', 'labels': {
           'kubernetes.io/service-name': '%s'}}, 'addressType': 'IPv4',
         'ports': [{'name': 'db', 'port': %d, 'protocol': 'TCP'}], 'endpoints': [%s]}"""
        .formatted(namespace, name, service, port, endpoints));
    if (store.find(BuiltInKinds.ENDPOINT_SLICE, namespace, name) == null) {
      store.create(BuiltInKinds.ENDPOINT_SLICE, slice);
    } else {
      store.writes().update(BuiltInKinds.ENDPOINT_SLICE, slice);
    }
  }

  private static String endpoint(String pod, String ip, boolean ready, boolean serving,
      boolean terminating) {
    return """
        {'addresses': ['%s'], 'conditions': {'ready': %s, 'serving': %s, 'terminating': %s},
         'targetRef': {'kind': 'Pod', 'name': '%s'}}"""
        .formatted(ip, ready, serving, terminating, pod);
  }

  // Controllers, each on the controllers' thread.

  private void onDeployment(ApiStoreChange change) {
    int now = change.object().at("/spec/replicas").asInt();
    if (now == wanted) {
      return;
    }
    wanted = now;
    if (wanted == 0) {
      zeros.incrementAndGet();
      atZero.forEach(Runnable::run);
    }
    scale();
  }

  private void scale() {
    var running = listed.stream().filter(one -> !one.terminating).toList();
    for (int i = running.size(); i < wanted; i++) {
      var added = new Listed(new NumberedPod(records, nodes.next(), pods.size(), podPort));
      pods.add(added.pod);
      listed.add(added);
      later(20 + random.nextInt(150), () -> listens(added));
    }
    running.stream().skip(wanted).forEach(this::end);
    publish();
  }

  private void listens(Listed one) {
    if (listed.contains(one)) {
      try {
        one.pod.listen();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      later(random.nextInt(100), () -> {
        one.ready = true;
        publish();
      });
    }
  }

  private void end(Listed one) {
    one.terminating = true;
    later(LISTENS_WHILE_ENDING_MILLIS, () -> {
      one.pod.end();
      remove(one);
    });
  }

  private void remove(Listed one) {
    if (listed.remove(one)) {
      scale();
    }
  }

  private void publish() {
    list(SHOP, NAME, podPort, listed.stream()
        .map(one -> endpoint(NAME + "-" + one.pod.ip(), one.pod.ip(),
            one.ready && !one.terminating, one.ready, one.terminating))
        .collect(Collectors.joining(", ")));
    int ready = (int) listed.stream().filter(one -> one.ready && !one.terminating).count();
    store.updateStatus(BuiltInKinds.DEPLOYMENT, SHOP, NAME, status -> {
      status.put("replicas", listed.size());
      status.put("readyReplicas", ready);
      return status;
    });
  }

  private void later(long millis, Runnable task) {
    controllers.schedule(task, millis, TimeUnit.MILLISECONDS);
  }

  /** A pod that is ready gets SIGKILL; it is listed for a moment more, and another one starts. */
  void killPod() {
    controllers.execute(() -> {
      var ready = listed.stream().filter(one -> one.ready && !one.terminating).toList();
      if (!ready.isEmpty()) {
        kills.incrementAndGet();
        var one = ready.get(random.nextInt(ready.size()));
        one.pod.kill(endedKills::incrementAndGet);
        later(random.nextInt(500), () -> remove(one));
      }
    });
  }

  /** With those that are still going on. */
  int podKills() {
    return kills.get();
  }

  /** After how many kills the pod has no connection any more. */
  int endedPodKills() {
    return endedKills.get();
  }

  /** How long pods listened until they accepted the first connection of a client, in order. */
  long[] nanosUntilFirst() {
    return pods.stream().mapToLong(NumberedPod::nanosUntilFirst).filter(nanos -> nanos >= 0)
        .sorted().toArray();
  }

  int zeros() {
    return zeros.get();
  }

  int wantedPods() {
    return wanted;
  }

  /** Runs it on the controllers' thread each time that the Deployment is scaled to zero. */
  void onZero(Runnable task) {
    atZero.add(task);
  }

  NumberedPod pod(long number) {
    return pods.get((int) number);
  }

  // Activators.

  /** Starts one, and lists it once it is ready. */
  Activator start() throws IOException, InterruptedException {
    return start("127.0.2." + (2 + started));
  }

  /** Starts one in place of another: with its address and its port for connections. */
  Activator replace(Activator killed) throws IOException, InterruptedException {
    return start(killed.address);
  }

  private Activator start(String address) throws IOException, InterruptedException {
    started++;
    int port = FreePort.next();
    int metrics = FreePort.next();
    var name = "activator-" + started;
    var flags = List.of("-Dactivator.identity.pod-name=" + name,
        "-Dactivator.identity.pod-ip=" + address, "-Dactivator.lending.port=" + links,
        "-Dactivator.serving.bind-address=" + address,
        "-Dactivator.standalone.stats-port=" + stats,
        "-Dactivator.standalone.tcp-ports=" + tcpPort,
        "-Dserver.port=" + metrics);
    var one = new Activator(name, address, metrics,
        ActivatorProcess.standalone(program, flags, api.kubeconfig(), port));
    ActivatorProcess.awaitReady(address, port, one.process);
    activators.add(one);
    listActivators();
    return one;
  }

  private void listActivators() {
    list(SYSTEM, "activator", 8012, activators.stream()
        .map(one -> endpoint(one.name, one.address, true, true, false))
        .collect(Collectors.joining(", ")));
  }

  /** With SIGKILL. Kubernetes takes it from the EndpointSlice a moment later. */
  void kill(Activator one) throws InterruptedException {
    activators.remove(one);
    one.killed = true;
    one.process.destroyForcibly().waitFor();
    listActivators();
  }

  List<Activator> activators() {
    return activators;
  }

  int tcpPort() {
    return tcpPort;
  }

  String leader() {
    var lease = store.find(BuiltInKinds.LEASE, SYSTEM, LEASE);
    return lease == null ? "" : lease.at("/spec/holderIdentity").asString("");
  }

  /** Writes another one into the Lease, as if that had taken it. */
  void changeLeader(Activator to) {
    store.edit(BuiltInKinds.LEASE, SYSTEM, LEASE, lease -> {
      var spec = lease.withObject("/spec");
      spec.put("holderIdentity", to.name);
      spec.put("renewTime", Instant.now().truncatedTo(ChronoUnit.MICROS).toString());
      spec.put("leaseTransitions", spec.path("leaseTransitions").asInt() + 1);
      return lease;
    });
  }

  /** Samples of an activator's gauges that should be zero at rest, and are not. */
  List<String> notAtRest(Activator of) throws IOException, InterruptedException {
    var metrics = http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + of.metrics + "/metrics"))
            .build(),
        BodyHandlers.ofString()).body();
    return metrics.lines()
        .filter(line -> line.startsWith("kn_revision_request_queued")
            || line.startsWith("kn_revision_request_active")
            || line.startsWith("activator_held_memory_bytes")
            || line.startsWith("http_server_active_requests")
            || line.startsWith("http_client_open_connections"))
        .filter(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)) != 0)
        .toList();
  }

  @Override
  public void close() throws InterruptedException {
    for (var one : activators) {
      one.process.destroyForcibly().waitFor();
    }
    controllers.shutdownNow();
    nodes.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    api.close();
    http.close();
  }
}
