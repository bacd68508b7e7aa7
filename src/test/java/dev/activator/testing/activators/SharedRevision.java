package dev.activator.testing.activators;

import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.testing.SecureApi;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import reactor.netty.resources.LoopResources;

/**
 * A revision with a limit of one request for each pod, its pods, and the activators in front of it, each in a
 * process of its own and with an address of loopback; the API is in this process, over TLS.
 *
 * <p><b>Threads.</b> One starts and ends activators; any may read.
 */
public final class SharedRevision implements AutoCloseable {
  public static final String NAMESPACE = "shop";
  public static final String NAME = "cart";
  private static final Duration PROPAGATION = Duration.ofSeconds(3);

  /** An activator's process. */
  public static final class Activator {
    private final String address;
    private final int port;
    private final Process process;
    private volatile boolean killed;

    private Activator(String address, int port, Process process) {
      this.address = address;
      this.port = port;
      this.process = process;
    }

    InetSocketAddress requests() {
      return new InetSocketAddress(address, port);
    }

    /** Whether it was killed; also true while it is being killed. */
    boolean wasKilled() {
      return killed;
    }
  }

  private final SecureApi api = Certificate.ec().api();
  private final LoopResources loops = LoopResources.create("pods", 1, true);
  private final StatsServer autoscaler = new StatsServer(
      loops.onServer(LoopResources.DEFAULT_NATIVE), new InetSocketAddress("127.0.0.1", 0), _ -> {
      });
  private final Path program;
  private final List<String> flags;
  private final int links = FreePort.next();
  private final List<CountingPod> pods;
  private final List<Activator> activators = new CopyOnWriteArrayList<>();
  private int started;

  /**
   * Without activators at first.
   *
   * @param program a jar, or a folder of {@code bin/image-root}
   * @param flags of each activator's JVM
   */
  public SharedRevision(Path program, List<String> flags, int podCount) throws Exception {
    this.program = program;
    this.flags = flags;
    autoscaler.start();
    DefaultConfigMapCreator.createIn(api.store());
    int port = FreePort.next();
    pods = IntStream.rangeClosed(1, podCount)
        .mapToObj(i -> new CountingPod(loops, "127.9.0." + i, port)).toList();
    api.store().create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': '%s', 'name': '%s',
                      'annotations': {'activator.dev/probe': 'container'}},
         'spec': {'containerConcurrency': 1, 'timeoutSeconds': 60,
                  'containers': [{'image': 'i'}]}}
        """.formatted(NAMESPACE, NAME)));
    list(NAME + "-private", "Private", port, pods.stream().map(CountingPod::ip).toList());
  }

  private void list(String name, String type, int port, List<String> addresses) {
    var listed = addresses.stream().map("{'ip': '%s'}"::formatted)
        .collect(Collectors.joining(", "));
    var object = Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints',
         'metadata': {'namespace': '%s', 'name': '%s', 'labels': {
           'networking.internal.knative.dev/serviceType': '%s',
           'serving.knative.dev/revision': '%s', 'serving.knative.dev/revisionUID': 'u'}},
         'subsets': [{'addresses': [%s], 'ports': [{'name': 'http', 'port': %d}]}]}
        """.formatted(NAMESPACE, name, type, NAME, listed, port));
    if (api.store().find(BuiltInKinds.ENDPOINTS, NAMESPACE, name) == null) {
      api.store().create(BuiltInKinds.ENDPOINTS, object);
    } else {
      api.store().writes().update(BuiltInKinds.ENDPOINTS, object);
    }
  }

  private void listActivators() {
    list(NAME, "Public", 8012, activators.stream().map(one -> one.address).sorted().toList());
  }

  /** Starts activators, and lists them once they are ready. */
  public List<Activator> start(int count) throws Exception {
    return start(program, count);
  }

  /** Starts activators of another version, and lists them once they are ready. */
  public List<Activator> start(Path version, int count) throws Exception {
    var next = new ArrayList<Activator>();
    for (int i = 0; i < count; i++) {
      started++;
      var address = "127.0.0." + (1 + started);
      int port = FreePort.next();
      var all = new ArrayList<>(flags);
      all.addAll(List.of("-Dactivator.identity.pod-name=activator-" + started,
          "-Dactivator.identity.pod-ip=" + address, "-Dactivator.lending.port=" + links,
          "-Dactivator.serving.bind-address=" + address,
          "-Dactivator.serving.propagation-delay=" + PROPAGATION.toSeconds() + "s"));
      next.add(new Activator(address, port, ActivatorProcess.of(version, all, api.kubeconfig(),
          port, "ws://127.0.0.1:" + autoscaler.port())));
    }
    for (var one : next) {
      ActivatorProcess.awaitReady(one.address, one.port, one.process);
    }
    activators.addAll(next);
    listActivators();
    return next;
  }

  /** With SIGKILL. Kubernetes takes it from the Endpoints a moment later. */
  public void kill(Activator one) throws InterruptedException {
    activators.remove(one);
    one.killed = true;
    one.process.destroyForcibly().waitFor();
    listActivators();
  }

  /** Takes it from the Endpoints, and begins its drain. */
  public void terminate(Activator one) {
    activators.remove(one);
    listActivators();
    one.process.toHandle().destroy();
  }

  /** The exit code, after {@link #terminate}. */
  public int exitCode(Activator one) throws InterruptedException {
    if (!one.process.waitFor(2, TimeUnit.MINUTES)) {
      throw new IllegalStateException("still runs: " + one.address);
    }
    return one.process.exitValue();
  }

  /** Those that get requests now, the first one first. */
  public List<Activator> activators() {
    return List.copyOf(activators);
  }

  /** The highest number of requests that a pod had at once. */
  public int highestConcurrency() {
    return pods.stream().mapToInt(CountingPod::most).max().orElse(0);
  }

  /** How many requests each pod has served. */
  public List<Integer> served() {
    return pods.stream().map(CountingPod::served).toList();
  }

  @Override
  public void close() throws InterruptedException {
    for (var one : activators) {
      one.process.destroyForcibly().waitFor();
    }
    pods.forEach(CountingPod::close);
    autoscaler.stop();
    api.close();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block(Duration.ofSeconds(10));
  }
}
