package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.ext.lending.link.PeerSecret;
import dev.activator.testing.TestRevisions;
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
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.loop.NettyLoop;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.FreePort;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.tls.SystemInternalTls;
import dev.activator.ext.lending.link.PeerTls;
import dev.activator.tls.PodTls;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Activators that find each other through the API, and the key in it. */
class LinkedActivatorsTest {
  private static final String NAMESPACE = "knative-serving";
  private static final String A = "127.0.0.2";
  private static final String B = "127.0.0.3";
  private static final String C = "127.0.0.4";

  private final EmbeddedApi api = EmbeddedApi.start();
  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(2,
      NioIoHandler.newFactory());
  private final int port = FreePort.next();
  private final List<Activator> running = new ArrayList<>();
  private boolean systemInternalTls;

  /** What an activator has for its links. */
  private final class Activator {
    private final ClusterWatcher cluster = Quiescence
        .watch(Make.cluster(() -> new ClusterAccess.At(URI.create(api.url())),
            Duration.ofSeconds(120), ReflectorSettings.DEFAULT,
            new PodAddressPreference(EndpointsSource.ENDPOINTS, IpFamily.IPV4)));
    private final PeerTransport peers;

    Activator(String address) throws Exception {
      var internal = new SystemInternalTls(cluster::followCertificates, NAMESPACE,
          () -> systemInternalTls, new PodTls(TestRevisions.unused()), TestValues.TLS13);
      var tls = new PeerTls();
      peers = new PeerTransport(new NettyLoop(threads.next()), tls, address, port,
          new PeerNetwork.Self("activator-" + address, address, running.size() + 1),
          new PeerKeyLoader(tls, internal, new PeerSecret(cluster::api, NAMESPACE)), new Random(1));
      cluster.publicAddresses().subscribe("test", peers.network()::publicAddresses);
      cluster.start();
      internal.start();
      peers.open();
      running.add(this);
    }

    State state(String of) {
      return peers.network().views().stream().filter(view -> view.address().equals(of))
          .map(PeerSnapshot::state).findFirst().orElse(State.UNREACHABLE);
    }

    boolean isLinked(String to) {
      return state(to) == State.LINKED;
    }

    void end() {
      running.remove(this);
      peers.close();
      cluster.close();
    }
  }

  @AfterEach
  void close() {
    List.copyOf(running).forEach(Activator::end);
    api.close();
    threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  private void areActivators(String revision, String... addresses) {
    var listed = Arrays.stream(addresses).map("{'ip': '%s'}"::formatted)
        .collect(Collectors.joining(", "));
    var object = Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints',
         'metadata': {'namespace': 'shop', 'name': '%s', 'labels': {
           'networking.internal.knative.dev/serviceType': 'Public',
           'serving.knative.dev/revision': '%s'}},
         'subsets': [{'addresses': [%s], 'ports': [{'name': 'http', 'port': 8012}]}]}
        """.formatted(revision, revision, listed));
    if (api.store().find(BuiltInKinds.ENDPOINTS, "shop", revision) == null) {
      api.store().create(BuiltInKinds.ENDPOINTS, object);
    } else {
      api.store().writes().update(BuiltInKinds.ENDPOINTS, object);
    }
  }

  private void hasRoutingCertificate(Certificate certificate) {
    api.store().create(BuiltInKinds.SECRET, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'namespace': 'knative-serving',
         'name': 'routing-serving-certs'},
         'data': {'tls.crt': '%s', 'tls.key': '%s', 'ca.crt': ''}}
        """.formatted(base64(certificate.pem()), base64(certificate.keyPem()))));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void needNothingButTheAddressesInEndpoints() throws Exception {
    areActivators("cart", A, B);
    areActivators("web", A, B, C);

    var a = new Activator(A);
    var b = new Activator(B);
    var c = new Activator(C);

    await().until(() -> a.isLinked(B) && a.isLinked(C) && b.isLinked(A) && b.isLinked(C)
        && c.isLinked(A) && c.isLinked(B));
    assertThat(api.store().list(BuiltInKinds.SECRET)).hasSize(1);
  }

  @Test
  void makeNoKey_whereThereIsOneAlone() throws Exception {
    areActivators("cart", A);

    new Activator(A);

    assertThat(api.store().list(BuiltInKinds.SECRET)).isEmpty();
  }

  @Test
  void useTheCertificateOfSystemInternalTls_whereItIsOn() throws Exception {
    systemInternalTls = true;
    hasRoutingCertificate(Authority.named("routing").issue("kn-routing"));
    areActivators("cart", A, B);

    var a = new Activator(A);
    var b = new Activator(B);

    await().until(() -> a.isLinked(B) && b.isLinked(A));
    assertThat(api.store().find(BuiltInKinds.SECRET, NAMESPACE, "activator-peers")).isNull();
  }

  @Test
  void areNotLinked_whereTheKeyMayNotBeMade() throws Exception {
    api.faults().add(Match.requests(Verb.CREATE).of(BuiltInKinds.SECRET), Fault.Answer.status(403));
    areActivators("cart", A, B);

    var a = new Activator(A);
    var b = new Activator(B);

    await().until(() -> a.state(B) == State.UNAUTHORISED && b.state(A) == State.UNAUTHORISED);
    assertThat(a.peers.network().views().getFirst().problem())
        .startsWith("the Secret knative-serving/activator-peers: cannot create it: 403");
  }

  @Test
  void areLinkedAgain_afterARollingUpdate() throws Exception {
    areActivators("cart", A, B);
    var a = new Activator(A);
    var old = new Activator(B);
    await().until(() -> a.isLinked(B) && old.isLinked(A));

    // when a new one comes, and the old one leaves Endpoints, drains and ends
    areActivators("cart", A, B, C);
    var next = new Activator(C);
    areActivators("cart", A, C);
    await().until(() -> a.isLinked(C) && next.isLinked(A));
    assertThat(a.isLinked(B)).as("it drains").isTrue();
    old.end();

    await().until(() -> a.peers.network().views().size() == 1);
    assertThat(a.isLinked(C)).isTrue();
  }
}
