package dev.activator.image;

import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.FreePort;
import dev.activator.testing.SecureApi;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs the activator of a root file system in cluster mode, gives it what it gets in production, and has the
 * JVM write down what it learned: {@code app/activator.aot}. The Kubernetes API, over TLS, the autoscaler, the
 * pods and the callers are in this process. It is run from its source, on the class path of the activator.
 *
 * <p><b>Errors.</b> The exit code is 1 if it does not start, answers wrongly, or leaves no cache.
 */
class Training {
  private static final int ROUNDS = 60;
  private static final int AT_ONCE = 16;
  private static final int REVISIONS = 40;
  private static final int PODS = 2;
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String NAMESPACE = "default";
  private static final String PASSWORD = "changeit";
  /** See the thresholds in java.options: what a training run found hot is compiled at the start. */
  private static final List<String> NO_PROFILES = List.of("-XX:+UnlockDiagnosticVMOptions",
      "-XX:-AOTRecordTraining");
  private static final String NOTES = "-XX:AOTConfiguration=activator.aot.notes";

  private final Path root;
  private final Path app;
  private final Path scratch = Files.createTempDirectory("training");
  private final Path output = scratch.resolve("output");
  private final PrivateKey key;
  private final X509Certificate certificate;
  private final SecureApi api;
  private final String[] uids = new String[REVISIONS];
  private final DisposableServer pods;
  private final int http = FreePort.next();
  private final int https = FreePort.next();
  private final int management = FreePort.next();

  private Training(Path root) throws Exception {
    this.root = root.toRealPath();
    this.app = this.root.resolve("app");
    var keys = makeKey();
    this.key = (PrivateKey) keys.getKey("localhost", PASSWORD.toCharArray());
    this.certificate = (X509Certificate) keys.getCertificate("localhost");
    this.api = new SecureApi(certificate, key);
    this.pods = HttpServer.create().host("0.0.0.0").port(0)
        .protocol(HttpProtocol.HTTP11, HttpProtocol.H2C).handle((request, response) -> {
          boolean isProbe = request.requestHeaders().contains("K-Network-Probe");
          return request.receive().then(
              response.sendString(Mono.just(isProbe ? "queue" : "Hello\n")).then());
        }).bindNow();
  }

  public static void main(String[] args) {
    int code = 0;
    try {
      new Training(Path.of(args[0])).run();
    } catch (Exception failure) {
      failure.printStackTrace();
      code = 1;
    }
    // Threads of the servers are left.
    System.exit(code);
  }

  private KeyStore makeKey() throws Exception {
    var file = scratch.resolve("keys");
    run(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
        "-genkeypair", "-alias", "localhost", "-keyalg", "RSA", "-keysize", "2048", "-dname",
        "CN=localhost", "-ext", "san=dns:localhost", "-storetype", "PKCS12", "-storepass",
        PASSWORD, "-keystore", file.toString()));
    return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
  }

  private void run() throws Exception {
    var autoscaler = new StatsServer(
        new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()),
        new InetSocketAddress("127.0.0.1", 0), _ -> {
        });
    autoscaler.start();
    DefaultConfigMapCreator.createIn(api.store());
    for (int i = 0; i < REVISIONS; i++) {
      create(i);
    }
    var process = start(command("-XX:AOTMode=record", NOTES),
        "ws://127.0.0.1:" + autoscaler.port());
    try {
      awaitReady(process);
      exercise();
      // As Kubernetes ends it; not the process's own destroy(), which closes what it logs to.
      process.toHandle().destroy();
      awaitEnd(process);
      makeCache();
    } catch (Exception failure) {
      // Whatever failed, what the process printed says why.
      System.err.print(Files.readString(output));
      throw failure;
    } finally {
      process.destroyForcibly();
    }
  }

  /** A Revision with what Knative's controllers make for it. */
  private void create(int number) {
    var store = api.store();
    uids[number] = ObjectMeta.uid(store.create(BuiltInKinds.REVISION, Json.MAPPER.readValue("""
        {"apiVersion": "serving.knative.dev/v1", "kind": "Revision",
         "metadata": {"namespace": "%s", "name": "%s", "annotations":
           {"serving.knative.dev/creator": "training"}},
         "spec": {"timeoutSeconds": 300, "containerConcurrency": %d, "containers": [{"image": "x",
           "ports": [{"name": "%s", "containerPort": 8080}]}]}}
        """.formatted(NAMESPACE, name(number), number % 3 * 10, number % 2 == 0 ? "http1" : "h2c"),
        ObjectNode.class)));
    for (var type : List.of("Public", "Private")) {
      store.create(BuiltInKinds.SERVICE, labelled("v1", "Service", number, type, """
          , "spec": {"clusterIP": "127.0.0.1", "ports": [{"name": "%s", "port": 80}]}"""
          .formatted(portName(number))));
    }
    store.create(BuiltInKinds.ENDPOINTS, endpoints(number, "Public"));
    store.create(BuiltInKinds.ENDPOINTS, endpoints(number, "Private"));
    store.create(BuiltInKinds.ENDPOINT_SLICE, slice(number, PODS));
  }

  private static String name(int number) {
    return "hello-" + number;
  }

  /** Odd ones speak HTTP/2. */
  private static String portName(int number) {
    return number % 2 == 0 ? "http" : "http2";
  }

  private ObjectNode endpoints(int number, String type) {
    return labelled("v1", "Endpoints", number, type, """
        , "subsets": [{"addresses": [{"ip": "127.0.0.1"}],
          "ports": [{"name": "%s", "port": %d}]}]"""
        .formatted(portName(number), pods.port()));
  }

  private ObjectNode slice(int number, int ready) {
    var endpoints = IntStream.range(0, PODS).mapToObj(pod -> """
        {"addresses": ["127.0.0.%d"], "conditions": {"ready": %b},
         "targetRef": {"kind": "Pod", "name": "pod-%d"}}""".formatted(1 + pod, pod < ready, pod))
        .toList();
    return labelled("discovery.k8s.io/v1", "EndpointSlice", number, "Private", """
        , "addressType": "IPv4", "endpoints": %s, "ports": [{"name": "%s", "port": %d}]
        """.formatted(endpoints, portName(number), pods.port()));
  }

  private ObjectNode labelled(String version, String kind, int number, String type,
      String rest) {
    return Json.MAPPER.readValue("""
        {"apiVersion": "%s", "kind": "%s", "metadata": {"namespace": "%s", "name": "%s",
         "labels": {"serving.knative.dev/revision": "%s", "serving.knative.dev/revisionUID": "%s",
          "networking.internal.knative.dev/serviceType": "%s"}}%s}
        """.formatted(version, kind, NAMESPACE, name(number) + (type.equals("Private") ? "-p" : ""),
        name(number), uids[number], type, rest), ObjectNode.class);
  }

  /** The command that the image starts, but for the cache it would use. */
  private List<String> command(String... instead) throws IOException {
    var command = new ArrayList<>(List.of(root.resolve("opt/java/bin/java").toString()));
    command.addAll(NO_PROFILES);
    command.addAll(List.of(instead));
    for (String line : Files.readAllLines(app.resolve("java.options"))) {
      if (!line.isBlank() && !line.startsWith("#") && !line.startsWith("-XX:AOTCache=")) {
        command.addAll(List.of(line.split(" ")));
      }
    }
    return command;
  }

  private Process start(List<String> command, String autoscaler) throws Exception {
    var builder = new ProcessBuilder(command).directory(app.toFile()).redirectErrorStream(true)
        .redirectOutput(output.toFile());
    var chain = Files.writeString(scratch.resolve("tls.crt"), SecureApi.pem(certificate));
    var secret = Files.writeString(scratch.resolve("tls.key"),
        SecureApi.pem("PRIVATE KEY", key.getEncoded()));
    var environment = builder.environment();
    environment.keySet().removeAll(List.of("KUBERNETES_SERVICE_HOST", "JDK_JAVA_OPTIONS"));
    environment.putAll(Map.of("KUBECONFIG", api.kubeconfig().toString(), "POD_NAME", "activator",
        "POD_IP", "127.0.0.1", "SYSTEM_NAMESPACE", "knative-serving", "CLUSTER_DOMAIN",
        "cluster.local", "ACTIVATOR_TLS_CERTIFICATE", chain.toString(), "ACTIVATOR_TLS_KEY",
        secret.toString(), "ACTIVATOR_CLUSTER_AUTOSCALER", autoscaler));
    environment.putAll(Map.of("ACTIVATOR_PORT_HTTP1", Integer.toString(http),
        "ACTIVATOR_PORT_H2C", "0", "ACTIVATOR_PORT_HTTPS", Integer.toString(https),
        "PROFILING_PORT", "0", "ACTIVATOR_CONSOLE_PORT", "0", "ACTIVATOR_LENDING_PORT", "0",
        "METRICS_PROMETHEUS_PORT", Integer.toString(management),
        "ACTIVATOR_SERVING_PROPAGATION_DELAY", "1s"));
    return builder.start();
  }

  private void awaitReady(Process process) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    try (var client = HttpClient.newHttpClient()) {
      while (process.isAlive() && System.nanoTime() < end) {
        try {
          if (client.send(probe().build(), BodyHandlers.discarding()).statusCode() == 200) {
            return;
          }
        } catch (IOException early) {
          // It does not listen yet.
        }
        // The probe has no event to wait for.
        Thread.sleep(50);
      }
    }
    throw new IOException("the activator was never ready");
  }

  private HttpRequest.Builder probe() {
    return to("http", http, "/").header("K-Kubelet-Probe", "activator");
  }

  /** Requests in both versions of HTTP and over TLS, pods that come and go, and scrapes. */
  private void exercise() throws Exception {
    for (var version : List.of(Version.HTTP_1_1, Version.HTTP_2)) {
      for (var scheme : List.of("http", "https")) {
        try (var client = HttpClient.newBuilder().version(version).sslContext(trusting())
            .build()) {
          expect(200, client, hello(scheme, 0));
          for (int i = 0; i < ROUNDS; i++) {
            requests(client, scheme, i);
          }
          expect(200, client, probe());
          expect(404, client, to("http", http, "/"));
          expect(200, client, to("http", management, "/actuator/health/liveness"));
          expect(200, client, to("http", management, "/metrics"));
        }
      }
    }
    coldStarts();
  }

  /** Requests that wait for a pod. */
  private void coldStarts() throws Exception {
    try (var client = HttpClient.newHttpClient()) {
      for (int i = 0; i < REVISIONS; i++) {
        api.store().writes().update(BuiltInKinds.ENDPOINT_SLICE, slice(i, 0));
      }
      // Long enough for the activator to see that the pods are gone; nothing reports that it has.
      Thread.sleep(500);
      for (int i = 0; i < REVISIONS; i++) {
        var waiting = client.sendAsync(hello("http", i).build(), BodyHandlers.discarding());
        api.store().writes().update(BuiltInKinds.ENDPOINT_SLICE, slice(i, PODS));
        expect(200, waiting.get().statusCode());
      }
    }
  }

  /** Some requests at once. A busy machine may fail one; that is no reason to have no image. */
  private void requests(HttpClient client, String scheme, int round) throws InterruptedException {
    var answers = new ArrayList<CompletableFuture<HttpResponse<Void>>>();
    for (int i = 0; i < AT_ONCE; i++) {
      var request = hello(scheme, (round + i) % REVISIONS);
      answers.add(client.sendAsync(
          (i % 4 == 3 ? request.POST(BodyPublishers.ofByteArray(new byte[20_000])) : request)
              .build(),
          BodyHandlers.discarding()));
    }
    for (var answer : answers) {
      try {
        answer.get();
      } catch (ExecutionException failed) {
        System.err.println("passed over: " + failed.getCause());
      }
    }
  }

  private HttpRequest.Builder hello(String scheme, int number) {
    // As ingresses ask, since the client sends no Host of ours in HTTP/2.
    return to(scheme, scheme.equals("https") ? https : http, "/")
        .header("Knative-Serving-Namespace", NAMESPACE)
        .header("Knative-Serving-Revision", name(number));
  }

  private static HttpRequest.Builder to(String scheme, int port, String path) {
    return HttpRequest.newBuilder(URI.create(scheme + "://localhost:" + port + path))
        .timeout(PATIENCE);
  }

  private static SSLContext trusting() throws Exception {
    var context = SSLContext.getInstance("TLS");
    context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    return context;
  }

  private static void expect(int status, HttpClient client, HttpRequest.Builder request)
      throws Exception {
    expect(status, client.send(request.build(), BodyHandlers.discarding()).statusCode());
  }

  private static void expect(int status, int got) {
    if (got != status) {
      throw new IllegalStateException("expected " + status + ", but got " + got);
    }
  }

  private void makeCache() throws Exception {
    var command = command("-XX:AOTMode=create", NOTES, "-XX:AOTCache=activator.aot");
    var said = run(command);
    Files.deleteIfExists(app.resolve("activator.aot.notes"));
    var cache = app.resolve("activator.aot");
    if (!Files.exists(cache)) {
      throw new IllegalStateException("no cache was made: " + said);
    }
    System.out.println("trained: " + cache + ", " + Files.size(cache) / 1_000_000 + " MB");
  }

  /** What it printed. */
  private String run(List<String> command) throws Exception {
    var process = new ProcessBuilder(command).directory(app.toFile()).redirectErrorStream(true)
        .start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    awaitEnd(process);
    return said;
  }

  private static void awaitEnd(Process process) throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("does not end: " + process.info());
    }
  }
}
