package dev.activator.ext.lending.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.tls.SelfSignedCertificate;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessenger.PeerEventListener;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.wire.PeerFrame;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Activators at addresses of loopback, with one port number, over real sockets and TLS. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time, on ports of their own.
class PeerTransportTest {
  private static final String A = "127.0.0.2";
  private static final String B = "127.0.0.3";
  /** Leaves the first attempt to B, whose address is smaller. */
  private static final String C = "127.0.0.4";
  private static final RevisionId REVISION = new RevisionId("shop", "cart");
  private static final SelfSignedCertificate KEY = SelfSignedCertificate.of("activator-peers");

  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(2,
      NioIoHandler.newFactory());
  private final int port = FreePort.next();
  private final List<Activator> all = new ArrayList<>();

  private final class Activator implements PeerEventListener {
    private final PeerTransport port;
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final AtomicInteger views = new AtomicInteger();
    private volatile String chain;
    private volatile String key;
    private final AtomicInteger keyReads = new AtomicInteger();

    Activator(String address, String firstChain, String firstKey) throws IOException {
      chain = firstChain;
      key = firstKey;
      var tls = new PeerTls();
      port = new PeerTransport(new NettyLoop(threads.next()), tls, address,
          PeerTransportTest.this.port,
          new PeerNetwork.Self("pod-" + address, address, 7), () -> {
            try {
              tls.use("the test", chain, key);
              return CompletableFuture.completedFuture("");
            } catch (IOException e) {
              return CompletableFuture.completedFuture(e.getMessage());
            } finally {
              keyReads.incrementAndGet();
            }
          }, new Random(1));
      port.network().listen(this);
      all.add(this);
      port.network().publicAddresses(new PublicEndpointAddresses(REVISION,
          List.of(address, address.equals(B) ? A : B), List.of()));
      port.open();
    }

    State state(String of) {
      return port.network().views().stream().filter(view -> view.address().equals(of))
          .map(PeerSnapshot::state).findFirst().orElse(State.UNREACHABLE);
    }

    @Override
    public void onActivators(Set<String> addresses) {}

    @Override
    public void onConnected(PeerId peer) {
      events.add("connected " + peer.address());
      for (int i = 1; i <= 3; i++) {
        port.network().send(peer, new PeerMessage.Beat(i, 0));
      }
    }

    @Override
    public void onDisconnected(PeerId peer) {
      events.add("disconnected " + peer.address());
    }

    @Override
    public void onEnded(PeerId peer) {
      events.add("ended " + peer.address());
    }

    @Override
    public void onLegacy(String address) {
      events.add("legacy " + address);
    }

    @Override
    public void onReceived(PeerId peer, PeerMessage message) {
      if (message instanceof PeerMessage.Beat beat) {
        events.add(beat.number() + " from " + peer.address());
      } else {
        views.incrementAndGet();
      }
    }
  }

  private Activator activator(String address) throws IOException {
    return new Activator(address, KEY.certificate(), KEY.key());
  }

  @AfterEach
  void close() {
    all.forEach(one -> one.port.close());
    threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @Test
  void linksActivatorsWithTheSameKey_andDeliversInOrder() throws Exception {
    var a = activator(A);
    var b = activator(B);

    await().until(() -> a.events.contains("3 from " + B) && b.events.contains("3 from " + A));

    assertThat(a.events).containsSubsequence("connected " + B, "1 from " + B, "2 from " + B,
        "3 from " + B);
    assertThat(b.events).containsSubsequence("connected " + A, "1 from " + A, "2 from " + A,
        "3 from " + A);
    assertThat(a.state(B)).isEqualTo(State.LINKED);

    b.port.close();
    await().until(() -> a.events.contains("ended " + B));
  }

  /** As after a change of the activators, when each revision asks the other activator at once. */
  @Test
  void keepsTheLink_whileThousandsOfRevisionsWantPermitsAtOnce() throws Exception {
    var a = activator(A);
    var b = activator(B);
    await().until(() -> a.state(B) == State.LINKED && b.state(A) == State.LINKED);
    var peer = new PeerId(B, "pod-" + B + "/7");
    // 1.6 MiB: a link that took a MiB before it was flushed was closed.
    var name = "n".repeat(400);

    CompletableFuture.runAsync(() -> {
      for (int i = 0; i < 2_000; i++) {
        a.port.network().send(peer,
            new PeerMessage.View(new RevisionId(name, name + i), Long.MAX_VALUE, Long.MIN_VALUE));
      }
    }, a.port.network().loop()).join();

    await().until(() -> b.views.get() == 2_000 || a.events.contains("disconnected " + B));
    assertThat(a.events).doesNotContain("disconnected " + B);
  }

  @Test
  void linksWithTheCertificateOfSystemInternalTls() throws Exception {
    var routing = Authority.named("routing").issue("kn-routing", "data-plane.knative.dev");
    var a = new Activator(A, routing.pem(), routing.keyPem());
    var b = new Activator(B, routing.pem(), routing.keyPem());

    await().until(() -> a.state(B) == State.LINKED && b.state(A) == State.LINKED);
  }

  @Test
  void takesNoOtherCertificateOfTheSameAuthority() throws Exception {
    var authority = Authority.named("routing");
    var routing = authority.issue("kn-routing");
    var another = authority.issue("kn-routing");
    var a = new Activator(A, routing.pem(), routing.keyPem());
    var b = new Activator(B, another.pem(), another.keyPem());

    await().until(() -> a.state(B) == State.UNAUTHORISED && b.state(A) == State.UNAUTHORISED);

    assertThat(a.events).isEmpty();
    assertThat(b.events).isEmpty();
  }

  @Test
  void takesAnAddressThatRefusesConnectionsForKnatives() throws Exception {
    var a = activator(A);

    await().until(() -> a.events.contains("legacy " + B));
  }

  @Test
  void takesAPortWithoutTlsForKnatives() throws Exception {
    try (var other = new ServerSocket()) {
      other.bind(new InetSocketAddress(B, port));
      Thread.ofVirtual().start(() -> {
        while (!other.isClosed()) {
          try (var connection = other.accept()) {
            connection.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes());
            connection.getInputStream().readAllBytes();
          } catch (IOException e) {
            // The test is over, or the connection is reset.
          }
        }
      });
      var a = activator(A);

      await().until(() -> a.events.contains("legacy " + B));
    }
  }

  @Test
  void dials_whereItsPortIsTaken() throws Exception {
    try (var other = new ServerSocket()) {
      other.bind(new InetSocketAddress(A, port));
      var a = activator(A);
      var b = activator(B);

      await().until(() -> a.state(B) == State.LINKED && b.state(A) == State.LINKED);
    }
  }

  /** A firewall lets no connection of A's through. */
  @Test
  void readsTheKeyAgain_afterRefusingAnActivatorThatHasAnother() throws Exception {
    try (var silent = new ServerSocket()) {
      silent.bind(new InetSocketAddress(B, port));
      var a = activator(A);
      await().until(() -> a.keyReads.get() == 1);
      var next = SelfSignedCertificate.of("activator-peers");
      a.chain = next.certificate();
      a.key = next.key();

      var b = new Activator(B, next.certificate(), next.key());

      await().atMost(Duration.ofSeconds(60)).until(() -> b.state(A) == State.LINKED);
    }
  }

  @Test
  void readsTheKeyOnce_forManyStrangers() throws Exception {
    var c = listening();
    int before = c.keyReads.get();

    for (int i = 0; i < 20; i++) {
      isCutOff(stranger(Certificate.ec()), hello());
    }

    assertThat(c.keyReads.get() - before).isLessThan(10);
  }

  /** As through a sidecar of a mesh, which hides where they come from. */
  @Test
  void linksAnActivator_whileStrangersHoldAllConnections() throws Exception {
    var strangers = new ArrayList<Socket>();
    try (var silent = new ServerSocket()) {
      silent.bind(new InetSocketAddress(A, port));
      var b = activator(B);
      await().until(() -> b.keyReads.get() == 1);
      for (int i = 0; i < PeerTransport.MAX_ACCEPTED; i++) {
        strangers.add(new Socket(InetAddress.getByName(B), port, InetAddress.getByName(A), 0));
      }

      var a = activator(A);

      await().until(() -> a.state(B) == State.LINKED);
      assertThat(strangers.stream().filter(PeerTransportTest::isOpen).count())
          .isGreaterThan(PeerTransport.MAX_ACCEPTED - 20);
    } finally {
      for (var stranger : strangers) {
        stranger.close();
      }
    }
  }

  private static boolean isOpen(Socket socket) {
    try {
      socket.setSoTimeout(1);
      return socket.getInputStream().read() >= 0;
    } catch (java.net.SocketTimeoutException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** A stranger that claims to be B. */
  private Socket stranger() throws IOException {
    return new Socket(InetAddress.getByName(C), port, InetAddress.getByName(B), 0);
  }

  private SSLSocket stranger(Certificate shown) throws Exception {
    return secure(stranger(), shown);
  }

  private SSLSocket secure(Socket connection, Certificate shown) throws Exception {
    var context = SSLContext.getInstance("TLS");
    var keys = shown == null
        ? new KeyManager[0]
        : new dev.activator.tls.CertifiedKey(List.of(shown.certificate()), shown.key())
            .keyManagers();
    context.init(keys, new TrustManager[]{new TrustsAll()}, null);
    return (SSLSocket) context.getSocketFactory().createSocket(connection, C, port, true);
  }

  private static final class TrustsAll implements X509TrustManager {
    @Override
    public void checkClientTrusted(java.security.cert.X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(java.security.cert.X509Certificate[] chain, String type) {}

    @Override
    public java.security.cert.X509Certificate[] getAcceptedIssuers() {
      return new java.security.cert.X509Certificate[0];
    }
  }

  /** What a stranger says, and that it is cut off. */
  private void isCutOff(Socket socket, byte[] frame) throws IOException {
    try (socket) {
      socket.setSoTimeout(30_000);
      var out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(frame.length);
      out.write(frame);
      out.flush();
      assertThat(socket.getInputStream().readAllBytes()).isEmpty();
    } catch (IOException e) {
      // Reset, or an alert: refused as well.
      assertThat(e).isNotInstanceOf(java.net.SocketTimeoutException.class);
    }
  }

  private static byte[] hello() {
    return PeerFrame.newBuilder().setHello(PeerFrame.Hello.newBuilder().setPod("pod-" + B)
        .setIncarnation(8).setProtocol(1).setAddress(B)).build().toByteArray();
  }

  private Activator listening() throws IOException {
    var c = activator(C);
    await().until(() -> c.keyReads.get() == 1);
    return c;
  }

  @Test
  void refusesAStrangerWithoutCertificate() throws Exception {
    var c = listening();

    isCutOff(stranger((Certificate) null), hello());

    assertThat(c.events).isEmpty();
  }

  @Test
  void refusesAStrangerWithItsOwnKey() throws Exception {
    var c = listening();

    isCutOff(stranger(Certificate.ec()), hello());
    isCutOff(stranger(Certificate.ec()), hello());

    assertThat(c.events).isEmpty();
  }

  /** It has seen our certificate, but not the key. */
  @Test
  void refusesAStrangerThatShowsOurCertificate_withoutItsKey() throws Exception {
    var c = listening();
    var ours = dev.activator.tls.CertifiedKey.parse(KEY.certificate(), KEY.key()).chain()
        .getFirst();

    isCutOff(stranger(new Certificate(ours, Certificate.ec().key())), hello());

    assertThat(c.events).isEmpty();
  }

  @Test
  void refusesAStrangerWithoutTls() throws Exception {
    var c = listening();

    isCutOff(stranger(), hello());

    assertThat(c.events).isEmpty();
  }

  private SSLSocket withTheKey() throws Exception {
    var ours = dev.activator.tls.CertifiedKey.parse(KEY.certificate(), KEY.key());
    return stranger(new Certificate(ours.chain().getFirst(), ours.key()));
  }

  @Test
  void endsAConnectionWithAFrameThatIsTooLarge() throws Exception {
    var c = listening();
    try (var socket = withTheKey()) {
      socket.setSoTimeout(30_000);
      new DataOutputStream(socket.getOutputStream()).writeInt(PeerTransport.MAX_FRAME_BYTES + 1);

      assertThat(socket.getInputStream().readAllBytes()).isEmpty();
    }
    assertThat(c.events).isEmpty();
  }

  @Test
  void endsAConnectionWithGarbage() throws Exception {
    var c = listening();

    isCutOff(withTheKey(), new byte[]{-1, -1, -1, -1, -1, -1});

    assertThat(c.events).isEmpty();
  }

  @Test
  void endsALinkWithGarbage() throws Exception {
    var c = listening();
    try (var socket = withTheKey()) {
      var out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(hello().length);
      out.write(hello());
      out.flush();
      await().until(() -> c.events.contains("connected " + B));
      out.writeInt(3);
      out.write(new byte[]{-1, -1, -1});
      out.flush();

      await().until(() -> c.events.contains("disconnected " + B));
    }
  }

  /** As the kernel does for a process that is killed. */
  @Test
  void knowsThatAProcessHasEnded_whenItsLinkEndsAndItIsListedNoMore() throws Exception {
    var c = listening();
    try (var connection = stranger()) {
      linked(c, connection);
      connection.shutdownOutput();
      await().until(() -> c.events.contains("disconnected " + B));

      isListedNoMore(c);

      await().until(() -> c.events.contains("ended " + B));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void doesNotKnowThatAProcessHasEnded_whenItsLinkIsResetOrItClosesIt(boolean isReset)
      throws Exception {
    var c = listening();
    var connection = stranger();
    var socket = linked(c, connection);
    if (isReset) {
      connection.setSoLinger(true, 0);
      connection.close();
    } else {
      socket.shutdownOutput();
    }
    await().until(() -> c.events.contains("disconnected " + B));

    isListedNoMore(c);

    await().until(() -> c.port.network().views().stream()
        .anyMatch(view -> view.problem().startsWith("nothing listens")));
    assertThat(c.events).doesNotContain("ended " + B);
  }

  private static void isListedNoMore(Activator c) {
    c.port.network().publicAddresses(new PublicEndpointAddresses(REVISION, List.of(C), List.of()));
  }

  private SSLSocket linked(Activator c, Socket connection) throws Exception {
    var ours = dev.activator.tls.CertifiedKey.parse(KEY.certificate(), KEY.key());
    var socket = secure(connection, new Certificate(ours.chain().getFirst(), ours.key()));
    var hello = PeerFrame.newBuilder().setHello(PeerFrame.Hello.newBuilder().setPod("pod-" + B)
        .setIncarnation(8).setProtocol(1).setAddress(B).setListens(true)).build().toByteArray();
    var out = new DataOutputStream(socket.getOutputStream());
    out.writeInt(hello.length);
    out.write(hello);
    out.flush();
    await().until(() -> c.events.contains("connected " + B));
    return socket;
  }

  @Test
  void endsALinkWhosePeerDoesNotRead() throws Exception {
    var c = listening();
    try (var socket = withTheKey()) {
      socket.setReceiveBufferSize(1 << 10);
      var out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(hello().length);
      out.write(hello());
      out.flush();
      await().until(() -> c.events.contains("connected " + B));
      var peer = new PeerId(B, "pod-" + B + "/8");
      var large = new PeerMessage.View(new RevisionId("ns", "n".repeat(50_000)), 1, 1);

      await().until(() -> {
        for (int i = 0; i < 200; i++) {
          c.port.network().send(peer, large);
        }
        return c.events.contains("disconnected " + B);
      });
    }
  }
}
