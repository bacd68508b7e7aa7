package dev.activator.ext.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.activator.config.RevisionAnnotations;
import dev.activator.loop.LogLimit;
import dev.activator.proxy.WireTest;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FreePort;
import dev.activator.testing.LogLines;
import dev.activator.testing.RawPeer;
import dev.activator.testing.VirtualLoop;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS connections that come by their server name, over sockets. */
class SniRouterTest extends WireTest {
  private static final RevisionId DB = new RevisionId("shop", "db");

  private final VirtualLoop loop = new VirtualLoop();
  private final LogLines lines = LogLines.of(FirstMessage.class);
  private SniRoutes routes;
  private Channel listening;
  private int port;

  @BeforeEach
  void listen() throws Exception {
    routes = new SniRoutes(activator.revisions.live, loop);
    named("db.example.com,other.example.com");
    listen(Duration.ofSeconds(100));
  }

  @AfterEach
  void stopReading() {
    lines.close();
  }

  private void listen(Duration timeout) throws InterruptedException {
    listening = null;
    var refusals = new LogLimit();
    while (listening == null) {
      port = FreePort.next();
      try {
        listening = activator.server.listenFor("127.0.0.1", port,
            (client, dispatcher) -> client.pipeline().addLast(
                new SniRouter(client, Objects.requireNonNull(ConnectionAddresses.of(client)),
                    dispatcher, routes, refusals, timeout)))
            .get();
      } catch (ExecutionException taken) {
        // By another process, since it was looked at.
        continue;
      }
    }
  }

  /** Other tests refuse connections meanwhile. */
  private List<String> refusals(RawPeer... clients) {
    return lines.at(Level.INFO).stream().filter(line -> Stream.of(clients)
        .anyMatch(client -> line.contains(":" + client.localPort() + " "))).toList();
  }

  private void named(String names) {
    routes.onRevision(activator.revisions.put(new Revision(DB, "u", PortProtocol.TCP, 0,
        RequestTimeouts.DEFAULT, true, ReadinessProbeSpec.CONNECT, Map.of(),
        Map.of(RevisionAnnotations.TCP_SNI, names), null)));
    loop.advance(Duration.ZERO);
  }

  /** The first message of a TLS client. */
  private static byte[] hello(String name) throws Exception {
    SSLEngine engine = SSLContext.getDefault().createSSLEngine("h", 1);
    engine.setUseClientMode(true);
    var parameters = engine.getSSLParameters();
    parameters.setServerNames(name.isEmpty() ? List.of() : List.of(new SNIHostName(name)));
    engine.setSSLParameters(parameters);
    var out = ByteBuffer.allocate(64 << 10);
    engine.wrap(ByteBuffer.allocate(0), out);
    out.flip();
    var bytes = new byte[out.remaining()];
    out.get(bytes);
    return bytes;
  }

  /** A pod that says how many bytes it got, once it got as many. */
  private void counts(int bytes) throws IOException {
    pod(caller -> caller.send("got " + caller.read(bytes).length()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"db.example.com", "OTHER.example.com"})
  void theWholeHelloReachesThePod(String name) throws Exception {
    var hello = hello(name);
    counts(hello.length + 4);
    try (var client = RawPeer.connect(port)) {
      client.send(hello).send("more");
      assertThat(client.readToEnd()).isEqualTo("got " + (hello.length + 4));
    }
  }

  @Test
  void aHelloMayComeInAThousandPieces() throws Exception {
    var hello = hello("db.example.com");
    int size = Math.ceilDiv(hello.length, 1000);
    counts(hello.length);
    try (var socket = new Socket("127.0.0.1", port)) {
      socket.setTcpNoDelay(true);
      for (int at = 0; at < hello.length; at += size) {
        socket.getOutputStream().write(hello, at, Math.min(size, hello.length - at));
        socket.getOutputStream().flush();
      }
      assertThat(new String(socket.getInputStream().readAllBytes()))
          .isEqualTo("got " + hello.length);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "db.example.org"})
  void aHelloWithoutAKnownNameIsReset(String name) throws Exception {
    try (var client = RawPeer.connect(port)) {
      client.send(hello(name));
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n",
      "\u0016\u0003\u0001\u0000\u0004\u0002\u0000\u0000\u0000",
      "\u0015nothing of what a client sends is logged"})
  void whatIsNoHelloIsReset(String bytes) throws Exception {
    try (var client = RawPeer.connect(port)) {
      client.send(bytes);
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
      eventually(() -> assertThat(refusals(client)).hasSize(1));
      assertThat(refusals(client).getFirst()).hasSizeLessThan(200).contains("not TLS")
          .doesNotContain("6e6f7468696e67");
    }
  }

  @Test
  void oneThatDoesNotEndItsHelloIsResetInTime() throws Exception {
    listen(Duration.ofMillis(50));
    try (var silent = RawPeer.connect(port); var slow = RawPeer.connect(port)) {
      slow.send(new byte[]{0x16, 3, 1, 1});
      assertThatThrownBy(slow::readToEnd).isInstanceOf(SocketException.class);
      assertThatThrownBy(silent::readToEnd).isInstanceOf(SocketException.class);
      eventually(() -> assertThat(refusals(silent, slow)).hasSize(1));
      assertThat(refusals(silent, slow).getFirst()).contains("first message");
    }
  }

  @Test
  void anUnfinishedHelloCountsAsHeldMemory_untilItsClientLeaves() throws Exception {
    try (var client = RawPeer.connect(port)) {
      client.send(new byte[]{0x16, 3, 1, 1});
      eventually(() -> assertThat(activator.held.total()).isEqualTo(4));
    }
    eventually(() -> assertThat(activator.held.total()).isZero());
  }

  @Test
  void aClientThatResetsIsNoRefusal() throws Exception {
    try (var client = RawPeer.connect(port)) {
      client.send(new byte[]{0x16, 3, 1, 1});
      eventually(() -> assertThat(activator.held.total()).isEqualTo(4));
      client.reset();
      eventually(() -> assertThat(activator.held.total()).isZero());
      assertThat(refusals(client)).isEmpty();
    }
  }

  @Test
  void aNameGoesWithItsWorkload_orToAnother() throws Exception {
    named("db.example.com");
    assertThat(routes.find("other.example.com")).isNull();
    assertThat(routes.find("db.example.com")).isSameAs(activator.revisions.live.find(DB));

    activator.revisions.remove(DB);
    loop.advance(Duration.ZERO);
    assertThat(routes.find("db.example.com")).isNull();
  }

  @Test
  void aHelloOfMoreThanSixteenKibIsReset_beforeItsEnd() throws Exception {
    try (var client = RawPeer.connect(port)) {
      client.send(new byte[]{0x16, 3, 1, -1, -1}).send(new byte[40 << 10]);
      assertThatThrownBy(client::readToEnd).isInstanceOf(SocketException.class);
    }
    eventually(() -> assertThat(activator.held.total()).isZero());
  }

  @Test
  void anEmptyNameIsThatOfNoWorkload() {
    named("");
    assertThat(routes.find("")).isNull();
  }
}
