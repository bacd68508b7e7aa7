package dev.activator.bench.activations;

import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.standalone.autoscaler.ReportBatch;
import dev.activator.testing.activators.ActivatorProcess;
import dev.activator.bench.ManyRevisions;
import dev.activator.bench.PodSource;
import dev.activator.bench.PodSource.Pod;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.testing.SecureApi;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import reactor.netty.resources.LoopResources;

/**
 * A cluster whose revisions are at zero, with one activator in a process of its own. This process is the rest: the
 * API over TLS, the autoscaler, the pods and the callers.
 *
 * <p>A revision starts as in Kubernetes: some milliseconds after its first statistic its pod is listed as not
 * ready, it listens after a delay, and later it is listed as ready.
 */
final class ClusterAtZero {
  static final String REFERENCE = "reference";
  private static final long MILLI = 1_000_000;
  /** From a statistic until the pod has an address. */
  private static final double AUTOSCALER_MILLIS = 5;
  /** From when the pod listens until the kubelet has found it ready. */
  private static final long READY_MILLIS = 500;

  private final String program;
  private final SecureApi api = Certificate.rsa().api();
  private final ManyRevisions revisions;
  private final AnsweringPods pods = new AnsweringPods();
  private final StartDelays delays;
  private final Random random = new Random(1);
  private final ScheduledExecutorService controllers = Executors
      .newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("controllers").factory());
  private final ConcurrentMap<Integer, Activation> activations = new ConcurrentHashMap<>();
  private final int podPort = FreePort.next();
  private final OpenLoopCallers callers;
  private final Process activator;
  private int generation;

  ClusterAtZero(String program, PodSource source, int count, StartDelays delays) throws Exception {
    this.program = program;
    this.delays = delays;
    DefaultConfigMapCreator.createIn(api.store());
    this.revisions = ManyRevisions.atZero(api.store(), source);
    revisions.create(count);
    boolean isReference = program.equals(REFERENCE);
    int requests = isReference ? ActivatorProcess.REFERENCE_PORT : FreePort.next();
    var autoscaler = autoscaler(isReference
        ? ActivatorProcess.autoscaler()
        : new InetSocketAddress("127.0.0.1", 0));
    this.activator = isReference ? reference() : activator(source, requests, autoscaler.port());
    this.callers = new OpenLoopCallers(requests);
    ActivatorProcess.awaitReady(requests, activator);
  }

  private StatsServer autoscaler(InetSocketAddress address) {
    var loops = LoopResources.create("autoscaler", 1, true);
    var server = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE), address,
        this::received);
    server.start();
    return server;
  }

  private Process activator(PodSource source, int port, int autoscaler) throws IOException {
    var words = program.split(" ");
    var flags = new ArrayList<>(Arrays.asList(words).subList(1, words.length));
    flags.add(source.flag());
    return ActivatorProcess.of(Path.of(words[0]).toAbsolutePath(), flags, api.kubeconfig(), port,
        "ws://127.0.0.1:" + autoscaler);
  }

  private Process reference() throws IOException {
    for (var name : List.of("config-features", "config-tracing")) {
      api.store().create(BuiltInKinds.CONFIG_MAP, Objects.parse(
          "{'metadata': {'namespace': 'knative-serving', 'name': '" + name + "'}}"));
    }
    return ActivatorProcess.reference(Path.of(System.getenv("REFERENCE")), api.kubeconfig());
  }

  String program() {
    return program;
  }

  long pid() {
    return activator.pid();
  }

  int connectionsToPods() {
    return pods.connections();
  }

  /** What starts the revision, if it is at zero; else what started it. */
  Activation activation(int revision, long arrivedNanos) {
    return activations.computeIfAbsent(revision, _ -> new Activation(revision,
        new Pod("127." + (1 + generation) + "." + revision / 250 + "." + (1 + revision % 250),
            podPort, false),
        arrivedNanos));
  }

  void send(int revision, String path, OpenLoopCallers.Answer answer) {
    callers.send(ManyRevisions.NAMESPACE, ManyRevisions.name(revision), path, answer);
  }

  private void received(ReportBatch batch) {
    long now = System.nanoTime();
    for (var entry : batch.entries()) {
      var started = activations.get(ManyRevisions.number(entry.revision().name()));
      if (started != null && started.reportedNanos == 0 && entry.sample().concurrency() > 0) {
        started.reportedNanos = now;
        controllers.schedule(() -> start(started),
            (long) (AUTOSCALER_MILLIS * MILLI * (0.5 + random.nextDouble())), TimeUnit.NANOSECONDS);
      }
    }
  }

  private void start(Activation started) {
    revisions.list(started.revision, List.of(started.pod));
    long delay = delays.nextNanos(started.revision);
    started.startsNanos = System.nanoTime() + delay;
    pods.startWithin(delay, started.pod, () -> {
      started.listensNanos = System.nanoTime();
      controllers.schedule(() -> becomesReady(started), READY_MILLIS, TimeUnit.MILLISECONDS);
    });
  }

  private void becomesReady(Activation started) {
    if (activations.get(started.revision) == started) {
      revisions.list(started.revision,
          List.of(new Pod(started.pod.ip(), started.pod.port(), true)));
    }
  }

  /** Its pod ends, at an address that the next one does not get. */
  void scaleToZero(int revision) {
    controllers.execute(() -> {
      var ended = activations.remove(revision);
      if (ended != null) {
        revisions.list(revision, List.of());
        pods.stop(ended.pod);
      }
    });
  }

  /** All of them; returns when it is done. */
  void scaleToZero() throws Exception {
    activations.keySet().forEach(this::scaleToZero);
    generation = (generation + 1) % 200;
    controllers.submit(() -> {
    }).get();
  }

  /** Until pods that listen are listed as ready. */
  void awaitReadiness() throws Exception {
    controllers.schedule(() -> {
    }, READY_MILLIS + 100, TimeUnit.MILLISECONDS).get();
  }
}
