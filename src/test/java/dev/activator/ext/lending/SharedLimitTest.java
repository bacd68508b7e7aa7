package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.ext.lending.link.PeerSecret;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.LiveRevisions;
import dev.activator.backend.ProbeSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.PodAddressPreference;
import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.policy.IpFamily;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.ext.lending.link.PeerSecret.PeerKeyLoader;
import dev.activator.ext.lending.link.PeerNetwork;
import dev.activator.ext.lending.link.PeerTransport;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.testing.Make;
import dev.activator.testing.PatientCaller;
import dev.activator.testing.SecureApi;
import dev.activator.testing.TestValues;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.tls.SystemInternalTls;
import dev.activator.ext.lending.link.PeerTls;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ProbeClient.ProbeResult;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Activators in one process, with the API and their links over TLS, and pods without queue-proxy, for which
 * the limit is exact.
 */
class SharedLimitTest {
  private static final String NAMESPACE = "knative-serving";
  private static final RevisionId CART = new RevisionId("shop", "cart");
  private static final String A = "127.0.0.2";
  private static final String B = "127.0.0.3";
  private static final Duration SERVICE = Duration.ofMillis(5);

  private final SecureApi api;
  private final ClusterAccess access;
  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(4,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(threads);
  private final int port = FreePort.next();
  private final List<Activator> running = new ArrayList<>();
  private final Map<Destination, AtomicInteger> inFlight = new ConcurrentHashMap<>();
  private final Map<Destination, AtomicInteger> most = new ConcurrentHashMap<>();
  private final Map<Destination, AtomicInteger> served = new ConcurrentHashMap<>();

  SharedLimitTest() throws Exception {
    var certificate = Certificate.ec();
    api = new SecureApi(certificate.certificate(), certificate.key());
    access = new ClusterAccess.Kubeconfig(api.kubeconfig(), "", "");
    api.store().create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'shop', 'name': 'cart',
                      'annotations': {'activator.dev/probe': 'container'}},
         'spec': {'containerConcurrency': 1, 'timeoutSeconds': 300,
                  'containers': [{'image': 'i'}]}}
        """));
  }

  private final class Activator {
    private final LiveRevisions live = new LiveRevisions(loops::loopFor);
    private final ClusterWatcher cluster = Quiescence
        .watch(Make.cluster(live, () -> access, TestValues.OLDEST_KUBERNETES,
            Duration.ofSeconds(120), ReflectorSettings.DEFAULT,
            new Random(1), new PodAddressPreference(EndpointsSource.ENDPOINTS, IpFamily.IPV4)));
    private final RevisionBackendsManager backends = Quiescence.watch(Make.backends(live,
        loops.loopFor("probes"), (on, request, done) -> on
            .execute(() -> done.accept(new ProbeResult.Answered(200, "queue"))),
        ProbeSettings.DEFAULT, new Random(1)));
    private final Throttler throttler;
    private final PeerTransport peers;

    Activator(String address) throws Exception {
      var lending = new PermitLending(address);
      throttler = Quiescence.watch(Make.throttler(live, address,
          ThrottlerOptions.of(10_000), LoopGroup.random(), lending));
      cluster.revisions().subscribe("test", throttler::onRevision);
      cluster.revisions().subscribe("test", backends::revision);
      cluster.pods().subscribe("test", backends::listed);
      cluster.podsGone().subscribe("test", last -> backends.podsGone(last.revision()));
      cluster.publicAddresses().subscribe("test", throttler::onPublicAddresses);
      backends.healthy().subscribe("test", throttler::onDestinations);
      var tls = new PeerTls();
      var internal = new SystemInternalTls(cluster::followCertificates, NAMESPACE, () -> false,
          new PodTls(TestRevisions.unused()), TestValues.TLS13);
      peers = new PeerTransport(new NettyLoop(threads.next()), tls, address, port,
          new PeerNetwork.Self("activator-" + address, address, System.identityHashCode(this)),
          new PeerKeyLoader(tls, internal, new PeerSecret(cluster::api, NAMESPACE)), new Random(1));
      cluster.publicAddresses().subscribe("test", peers.network()::publicAddresses);
      lending.start(peers.network().loop(), peers.network());
      peers.network().listen(lending);
      cluster.start();
      peers.open();
      running.add(this);
    }

    void isLinked(int others) {
      await().until(() -> peers.network().views().stream()
          .filter(view -> view.state() == PeerSnapshot.State.LINKED).count() == others);
    }

    /** Completed when all are served, each of which takes its pod for a while. */
    AtomicInteger send(int requests) {
      var left = new AtomicInteger(requests);
      var loop = loops.loopFor(CART);
      var revision = java.util.Objects.requireNonNull(live.find(CART));
      loop.execute(() -> {
        for (int i = 0; i < requests; i++) {
          var request = new Request(loop, left);
          if (throttler.admit(revision, request) instanceof Permit now) {
            request.granted(now);
          }
        }
      });
      return left;
    }

    void end() {
      running.remove(this);
      peers.close();
      backends.stop();
      cluster.close();
    }
  }

  private final class Request extends PatientCaller {
    private final AtomicInteger left;

    Request(Loop loop, AtomicInteger left) {
      super(loop);
      this.left = left;
    }

    @Override
    public void granted(Permit permit) {
      var pod = permit.destination();
      int now = count(inFlight, pod).incrementAndGet();
      count(most, pod).accumulateAndGet(now, Math::max);
      loop().schedule(SERVICE, () -> {
        count(inFlight, pod).decrementAndGet();
        count(served, pod).incrementAndGet();
        left.decrementAndGet();
        permit.release(Ending.ANSWERED);
      });
    }
  }

  private static AtomicInteger count(Map<Destination, AtomicInteger> of, Destination pod) {
    return of.computeIfAbsent(pod, _ -> new AtomicInteger());
  }

  @AfterEach
  void close() {
    List.copyOf(running).forEach(Activator::end);
    api.close();
    threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  private void has(String name, String type, int podPort, String... addresses) {
    var listed = Arrays.stream(addresses).map("{'ip': '%s'}"::formatted)
        .collect(Collectors.joining(", "));
    var object = Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints',
         'metadata': {'namespace': 'shop', 'name': '%s', 'labels': {
           'networking.internal.knative.dev/serviceType': '%s',
           'serving.knative.dev/revision': 'cart', 'serving.knative.dev/revisionUID': 'u'}},
         'subsets': [{'addresses': [%s], 'ports': [{'name': 'http', 'port': %d}]}]}
        """.formatted(name, type, listed, podPort));
    if (api.store().find(BuiltInKinds.ENDPOINTS, "shop", name) == null) {
      api.store().create(BuiltInKinds.ENDPOINTS, object);
    } else {
      api.store().writes().update(BuiltInKinds.ENDPOINTS, object);
    }
  }

  private void areActivators(String... addresses) {
    has("cart", "Public", 8012, addresses);
  }

  private void arePods(String... addresses) {
    has("cart-private", "Private", 8012, addresses);
  }

  private void nothingWasAboveTheLimit() {
    assertThat(most.values()).extracting(AtomicInteger::get).containsOnly(1);
  }

  @Test
  void usesAllPods_whereAllRequestsComeToOneActivator() throws Exception {
    areActivators(A, B);
    arePods("10.1.0.1", "10.1.0.2");
    var a = new Activator(A);
    var b = new Activator(B);
    a.isLinked(1);
    b.isLinked(1);

    var left = a.send(200);

    await().until(() -> left.get() == 0);
    nothingWasAboveTheLimit();
    assertThat(served).as("also the pod of the other activator").hasSize(2);
  }

  @Test
  void keepsTheLimitOfASinglePod_thatBothActivatorsHaveRequestsFor() throws Exception {
    areActivators(A, B);
    arePods("10.1.0.1");
    var a = new Activator(A);
    var b = new Activator(B);
    a.isLinked(1);
    b.isLinked(1);

    var ofA = a.send(100);
    var ofB = b.send(100);

    await().until(() -> ofA.get() == 0 && ofB.get() == 0);
    nothingWasAboveTheLimit();
  }

  @Test
  void losesNoRequest_andKeepsTheLimit_whileActivatorsAreReplaced() throws Exception {
    areActivators(A, B);
    arePods("10.1.0.1", "10.1.0.2", "10.1.0.3");
    var a = new Activator(A);
    var old = new Activator(B);
    a.isLinked(1);
    old.isLinked(1);
    var left = a.send(300);
    var ofOld = old.send(20);

    // when the other leaves Endpoints, drains and ends
    areActivators(A);
    await().until(() -> ofOld.get() == 0);
    old.end();

    await().until(() -> left.get() == 0);
    nothingWasAboveTheLimit();
  }
}
