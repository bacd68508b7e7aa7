package dev.activator.bench;

import dev.activator.testing.FreePort;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.bench.PodSource.Pod;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Certificate;
import dev.activator.testing.SecureApi;
import dev.activator.testing.RawPeer;
import dev.activator.testing.activators.ActivatorProcess;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.node.ObjectNode;

/**
 * Cold starts of one revision, seen from its caller. Each activator has a process of its own and an API,
 * over TLS and with a token, in this one, where the pods are too; they take turns. Pods are listed in
 * Endpoints, or in EndpointSlices.
 */
public final class ColdStartBench {
  private static final long MILLI = 1_000_000;
  /** Rounds in which little of the activator's code is compiled yet. */
  private static final int FIRST = 8;
  private static final int LAST = 20;
  private static final int STARTING_ROUNDS = 40;
  private static final String REFERENCE = "reference";
  private static final String ANSWER = "HTTP/1.1 200";
  private static final int WARM_UP_EVENTS = 5_000;

  private final PodSource source;
  private final String program;
  private final Random random = new Random(1);
  private final SecureApi api = Certificate.rsa().api();
  private final BenchPod alwaysListening = BenchPod.listening(0);
  private final int requests;
  private final List<Long> listens = new ArrayList<>();
  private final List<Long> listed = new ArrayList<>();
  private String uid = "";

  private ColdStartBench(PodSource source, String program, int autoscaler) throws Exception {
    this.source = source;
    this.program = program;
    DefaultConfigMapCreator.createIn(api.store());
    boolean isReference = program.equals(REFERENCE);
    this.requests = isReference ? ActivatorProcess.REFERENCE_PORT : FreePort.next();
    ActivatorProcess.awaitReady(requests, isReference ? reference() : activator(autoscaler));
    revisionIsListed();
  }

  private Process activator(int autoscaler) throws IOException {
    var words = program.split(" ");
    var flags = new ArrayList<>(Arrays.asList(words).subList(1, words.length));
    flags.add(source.flag());
    return ActivatorProcess.of(Path.of(words[0]).toAbsolutePath(), flags, api.kubeconfig(),
        requests, "ws://127.0.0.1:" + autoscaler);
  }

  private Process reference() throws IOException {
    for (var name : List.of("config-features", "config-tracing")) {
      api.store().create(BuiltInKinds.CONFIG_MAP, Objects.parse(
          "{'metadata': {'namespace': 'knative-serving', 'name': '" + name + "'}}"));
    }
    return ActivatorProcess.reference(Path.of(System.getenv("REFERENCE")), api.kubeconfig());
  }

  /** @param args endpoints or slices, then rounds, then a folder or jar with flags each */
  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    var source = PodSource.of(args[0]);
    int rounds = Integer.parseInt(args[1]);
    if (rounds < LAST) {
      throw new IllegalArgumentException(rounds + " rounds are too few: at least " + LAST);
    }
    var programs = new ArrayList<>(Arrays.asList(args).subList(2, args.length));
    var address = new InetSocketAddress("127.0.0.1", 0);
    if (System.getenv("REFERENCE") != null) {
      programs.addFirst(REFERENCE);
      address = ActivatorProcess.autoscaler();
    }
    var loops = LoopResources.create("autoscaler", 1, true);
    var autoscaler = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        address, _ -> {
        });
    autoscaler.start();
    warmUp();
    var all = new ArrayList<ColdStartBench>();
    for (var program : programs) {
      all.add(new ColdStartBench(source, program, autoscaler.port()));
    }
    for (int round = 0; round < rounds; round++) {
      for (var each : all) {
        each.listed(round);
      }
    }
    for (int round = 0; round < Math.min(rounds, STARTING_ROUNDS); round++) {
      for (var each : all) {
        each.listens();
      }
    }
    System.out.printf("%-62s %8s %8s %8s %8s %8s%n", "milliseconds", "first " + FIRST, "median",
        "last " + LAST, "p99", "ratio");
    var first = all.getFirst();
    for (var each : all) {
      print("a pod starts to listen -> first byte, " + each.program, each.listens, first.listens);
      print(source.kindName() + " written -> first byte, " + each.program, each.listed,
          first.listed);
    }
  }

  /** So that the figures do not show how slowly this process writes its first events. */
  private static void warmUp() throws Exception {
    var tls = SSLContext.getInstance("TLS");
    tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    try (var api = Certificate.rsa().api();
        var client = HttpClient.newBuilder().sslContext(tls).build()) {
      var watch = client.send(api.request("/api/v1/namespaces/ns/configmaps?watch=true").build(),
          BodyHandlers.ofLines());
      var lines = watch.body().iterator();
      var object = Objects.parse("{'metadata': {'namespace': 'ns', 'name': 'warm-up'}}");
      api.store().create(BuiltInKinds.CONFIG_MAP, object);
      for (int i = 0; i < WARM_UP_EVENTS; i++) {
        object.putObject("data").put("event", Integer.toString(i));
        api.store().writes().update(BuiltInKinds.CONFIG_MAP, object.deepCopy());
        lines.next();
      }
      client.shutdownNow();
    }
  }

  private void revisionIsListed() {
    var revision = api.store().create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'ns', 'name': 'hello'},
         'spec': {'timeoutSeconds': 60, 'containers': [{'image': 'hello'}]}}"""));
    uid = revision.get("metadata").get("uid").asString();
    api.store().create(source.kind(), listing(List.of()));
    // Until the activator knows the revision, it answers 404.
    pause(500);
  }

  /** The revision's pods start after 0.8 to 1.2 s, of which the activator knows nothing at first. */
  private void listens() throws Exception {
    int port = FreePort.next();
    write(List.of(new Pod("127.0.0.1", port, false)));
    try (var caller = ask()) {
      pause(800 + random.nextInt(400));
      try (var pod = BenchPod.listening(port)) {
        long listening = System.nanoTime();
        answered(caller);
        listens.add(System.nanoTime() - listening);
      }
    }
    scaledToZero();
  }

  /** The pod listens already, at another address each time. */
  private void listed(int round) throws Exception {
    try (var caller = ask()) {
      pause(300);
      var ip = "127.0." + (1 + round / 250) + "." + (1 + round % 250);
      long written = System.nanoTime();
      write(List.of(new Pod(ip, alwaysListening.port(), true)));
      answered(caller);
      listed.add(System.nanoTime() - written);
    }
    scaledToZero();
  }

  /** Returns at the first bytes of the pod's answer. */
  private void answered(RawPeer caller) throws IOException {
    var begin = caller.read(ANSWER.length());
    if (!begin.equals(ANSWER)) {
      throw new IOException(program + " answered '" + begin + "'");
    }
  }

  /** @param of what the medians are compared with */
  private static void print(String what, List<Long> nanos, List<Long> of) {
    var warm = nanos.subList(FIRST, nanos.size());
    System.out.printf(Locale.ROOT, "%-62s %8.1f %8.1f %8.1f %8.1f %8.2f%n", what,
        percentile(nanos.subList(0, FIRST), 0.5), percentile(warm, 0.5),
        percentile(nanos.subList(nanos.size() - LAST, nanos.size()), 0.5), percentile(warm, 0.99),
        percentile(warm, 0.5) / percentile(of.subList(FIRST, of.size()), 0.5));
  }

  private static double percentile(List<Long> nanos, double part) {
    var sorted = nanos.stream().sorted().toList();
    return sorted.get((int) Math.ceil(sorted.size() * part) - 1) / (double) MILLI;
  }

  private void scaledToZero() {
    write(List.of());
    pause(200);
  }

  private void write(List<Pod> pods) {
    api.store().writes().update(source.kind(), listing(pods));
  }

  private ObjectNode listing(List<Pod> pods) {
    return source.object("""
        {'namespace': 'ns', 'name': 'hello-private', 'labels': {
         'serving.knative.dev/revision': 'hello', 'serving.knative.dev/revisionUID': '%s',
         'kubernetes.io/service-name': 'hello-private',
         'networking.internal.knative.dev/serviceType': 'Private'}}""".formatted(uid), pods);
  }

  /** Sends a request as soon as the activator takes one; it is held. */
  private RawPeer ask() throws IOException {
    var caller = connected();
    caller.sendHead("GET / HTTP/1.1", "Host: hello.ns.example", "Knative-Serving-Namespace: ns",
        "Knative-Serving-Revision: hello");
    return caller;
  }

  private RawPeer connected() throws IOException {
    for (int i = 0; i < 600; i++) {
      try {
        return RawPeer.connect(requests);
      } catch (IOException notYet) {
        pause(100);
      }
    }
    throw new IOException("the activator does not listen on " + requests);
  }

  private static void pause(long millis) {
    LockSupport.parkNanos(millis * MILLI);
  }
}
