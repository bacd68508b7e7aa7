package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.knative.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.ScaledServices;
import dev.activator.standalone.StandalonePlatform;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.FreePort;
import dev.activator.testing.Make;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.TestValues;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.Throttler;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two activators of one API, and a pod that can be asleep. */
class TwoActivatorsSleepTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  /** On a busy machine the API and reports are late, and each attempt to sleep takes longer. */
  private static final Duration LONG = Duration.ofMinutes(4);

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final ClusterAccess access = new ClusterAccess.At(URI.create(api.url()));
  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(4,
      NioIoHandler.newFactory());
  private final HttpClient http = HttpClient.newHttpClient();
  private final Pod pod = new Pod();
  private final int reports = FreePort.next();
  private final Activator one = new Activator("activator-1", "127.0.8.1");
  private final Activator other = new Activator("activator-2", "127.0.8.2");

  private static final class Pod {
    private final HttpServer server;
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger whileAsleep = new AtomicInteger();
    private volatile boolean asleep;

    Pod() {
      try {
        server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
      server.createContext("/", exchange -> {
        (asleep ? whileAsleep : served).incrementAndGet();
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
      });
      server.createContext("/rest", exchange -> {
        asleep = true;
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
      });
      server.createContext("/go", exchange -> {
        asleep = false;
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
      });
      server.start();
    }

    int port() {
      return server.getAddress().getPort();
    }
  }

  private final class Activator {
    private final Loop loop = new NettyLoop(threads.next());
    private final ScaledServices services;
    private final StandalonePlatform platform;
    private final TestRevisions revisions = new TestRevisions(loop);
    private final ClusterWatcher cluster;
    private final Throttler throttler;
    private final AutoscalerLink link;
    private final ConcurrencyReporter reporter;
    private final RevisionCount requests;

    Activator(String name, String ip) {
      services = new ScaledServices(
          Make.scope().sharedBy(new RevisionId("system", "activator")));
      platform = new StandalonePlatform(access,
          new StandalonePlatform.Identity(name, ip, "system", "activator", "activator", reports),
          services, threads, new Random(1), KubernetesWriteRateLimiter.Limit.NONE);
      cluster = Make.cluster(revisions.live, () -> access, TestValues.OLDEST_KUBERNETES, LONG,
          ReflectorSettings.DEFAULT, new Random(1), TestValues.ANY_SLICES);
      throttler = Make.throttler(revisions.live, 10_000);
      cluster.revisions().subscribe("throttler", throttler::revision);
      // Each ready pod is healthy.
      cluster.pods().subscribe("backends", pods -> throttler.destinations(
          HealthyDestinations.pods(pods.revision(), pods.http1().ready())));
      link = AutoscalerLink.to(platform::autoscaler, (NettyLoop) loop, name,
          AutoscalerLink.Timings.DEFAULT, new Random(1));
      reporter = new ConcurrencyReporter(revisions.live, loop, Duration.ofSeconds(1), link);
      requests = reporter.onLoop(loop).of(revisions.begun(WEB));
    }

    /** As one of an older release does not. Call before the start. */
    Activator acknowledging() {
      var acknowledger = new IdleAcknowledger(loop, revisions.live, throttler, link);
      cluster.revisions().subscribe("asleep", acknowledger::onRevision);
      cluster.pods().subscribe("asleep", acknowledger::onListed);
      return this;
    }

    void start() throws Exception {
      platform.idleMethod(new AsleepConfiguration.Idle(
          AsleepConfiguration.methods(loop, null), revisions.live));
      link.onChange(reporter);
      platform.extensions(Set.of());
      platform.join(cluster, link);
      for (var part : platform.beforePorts()) {
        part.start().run();
      }
      cluster.start();
      link.open();
      reporter.start();
    }

    void stop() {
      reporter.stop();
      link.close();
      cluster.close();
      platform.beforePorts().reversed().stream().map(LifecyclePart::stop)
          .forEach(Runnable::run);
    }

    /** Completes with the response of the pod. */
    CompletableFuture<Integer> request() {
      var answer = new CompletableFuture<Integer>();
      loop.execute(() -> {
        requests.arrived();
        var caller = new QueuedCaller() {
          @Override
          public Loop loop() {
            return loop;
          }

          @Override
          public long maxWaitNanos() {
            return LONG.toNanos();
          }

          @Override
          public void granted(Permit permit) {
            var _ = http.sendAsync(HttpRequest.newBuilder(
                URI.create("http://" + permit.destination() + "/")).build(),
                BodyHandlers.discarding()).whenCompleteAsync((response, _) -> {
                  permit.release(Ending.ANSWERED);
                  requests.left();
                  answer.complete(response == null ? 0 : response.statusCode());
                }, loop);
          }

          @Override
          public void rejected(Rejection reason) {
            requests.left();
            answer.complete(503);
          }
        };
        if (throttler.admit(revisions.live.find(WEB), caller) instanceof Permit permit) {
          caller.granted(permit);
        }
      });
      return answer;
    }
  }

  @BeforeEach
  void start() throws Exception {
    ScaledServiceCrd.createIn(store);
    slice("system", "activator", "http", 8012,
        """
            {'addresses': ['127.0.8.1'], 'conditions': {'ready': true}, 'targetRef': {'kind': 'Pod', 'name': 'activator-1'}},
            {'addresses': ['127.0.8.2'], 'conditions': {'ready': true}, 'targetRef': {'kind': 'Pod', 'name': 'activator-2'}}""");
    slice("shop", "web", "http", pod.port(),
        """
            {'addresses': ['127.0.0.1'], 'conditions': {'ready': true}, 'targetRef': {'kind': 'Pod', 'name': 'web-1', 'uid': 'u'}}""");
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'replicas': 1}}
        """));
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80}]}}
        """));
    store.create(ScaledServiceCrd.of(store), Objects.parse(
        """
            {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
             'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
             'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 20},
             'scaleDown': {'stabilizationWindowSeconds': 6},
             'idle': {'do': 'sleep', 'sleep': {'path': '/rest', 'wakePath': '/go', 'isSleepingPath': ''}}}}
            """));
  }

  private void slice(String namespace, String service, String port, int number,
      String endpoints) {
    store.create(BuiltInKinds.ENDPOINT_SLICE, Objects.parse("""
        {'metadata': {'namespace': '%s', 'name': '%s-x',
          'labels': {'kubernetes.io/service-name': '%s'}}, 'addressType': 'IPv4',
         'ports': [{'name': '%s', 'port': %d}], 'endpoints': [%s]}
        """.formatted(namespace, service, service, port, number, endpoints)));
  }

  @AfterEach
  void stop() {
    List.of(one, other).forEach(Activator::stop);
    http.close();
    pod.server.stop(0);
    api.close();
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS);
  }

  private String state() {
    return store.find(ScaledServiceCrd.of(store), "shop", "web").at("/status/idle/state")
        .asString("");
  }

  @Test
  void thePodSleeps_whenBothSendNothing_andARequestAtEitherWakesIt() throws Exception {
    one.acknowledging().start();
    other.acknowledging().start();
    assertThat(one.request().get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(200);

    for (var activator : List.of(one, other)) {
      await().atMost(LONG).untilAsserted(() -> assertThat(state()).isEqualTo("Asleep"));
      assertThat(pod.asleep).isTrue();

      assertThat(activator.request().get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(200);
      assertThat(pod.asleep).isFalse();
    }
    assertThat(pod.whileAsleep).hasValue(0);
    assertThat(pod.served).hasValue(3);
    assertThat(store.find(BuiltInKinds.DEPLOYMENT, "shop", "web").at("/spec/replicas").asInt())
        .isEqualTo(1);
  }

  @Test
  void itStaysAwake_whileAnActivatorDoesNotAcknowledge() throws Exception {
    one.acknowledging().start();
    other.start();

    await().atMost(LONG).untilAsserted(() -> assertThat(store.list(BuiltInKinds.EVENT))
        .anySatisfy(event -> assertThat(event.toString()).contains("StaysAwake", "activator-2")));
    assertThat(pod.asleep).isFalse();
    assertThat(one.request().get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(200);
  }
}
