package dev.activator.ext.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.activator.config.CidrRanges;
import dev.activator.loop.LogLimit;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.Activator;
import dev.activator.proxy.WireTest;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Revision;
import dev.activator.testing.FreePort;
import dev.activator.testing.LogLines;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PROXY headers of load balancers and for pods, over sockets. */
class ProxyHeadersTest extends WireTest {
  private static final String V2 = "0d0a0d0a000d0a515549540a";
  private static final String V2_IPV4 = V2 + "2111000c" + "cb007107" + "c6336401" + "c000" + "1538";

  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private final LogLines lines = LogLines.of(FirstMessage.class);
  private int port;

  @BeforeEach
  void listen() throws Exception {
    listen(Duration.ofSeconds(100), "127.0.0.0/8");
  }

  @AfterEach
  void stopReading() {
    lines.close();
  }

  private void listen(Duration timeout, String... trusted) throws InterruptedException {
    var headers = new ProxyHeaders(CidrRanges.of(List.of(trusted)), timeout);
    var live = Objects.requireNonNull(activator.revisions.live.find(Activator.HELLO));
    var refusals = new LogLimit();
    boolean listens = false;
    while (!listens) {
      port = FreePort.next();
      try {
        activator.server.listenFor("127.0.0.1", port,
            (client, dispatcher) -> headers.accept(client, dispatcher, refusals,
                ConnectionAddresses.headerVersion(live) != null,
                addresses -> TcpConnection.accept(client, addresses, dispatcher, live, refusals)))
            .get();
        listens = true;
      } catch (ExecutionException taken) {
        // By another process, since it was looked at.
        continue;
      }
    }
  }

  private void podsGet(String version) {
    var hello = activator.revisions.get(Activator.HELLO);
    activator.revisions.put(new Revision(hello.id(), hello.uid(), PortProtocol.TCP, 0,
        hello.timeouts(), true, null, Map.of(),
        Map.of("activator.dev/tcp-proxy-protocol", version), null));
  }

  private RawPeer client() throws IOException {
    return RawPeer.connect(port);
  }

  /** A pod that says what it got until the client ended. */
  private void echoes() throws IOException {
    pod(caller -> {
      var all = caller.readToEnd();
      received.add(all);
      caller.send("got " + all);
    });
  }

  /** Other tests refuse connections meanwhile. */
  private List<String> refusals(RawPeer peer) {
    return lines.at(Level.INFO).stream()
        .filter(line -> line.contains(":" + peer.localPort() + " ")).toList();
  }

  private static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits);
  }

  private RequestTimeline ended() throws InterruptedException {
    var seen = activator.requests.ended.poll(120, TimeUnit.SECONDS);
    assertThat(seen).isNotNull();
    return seen.request();
  }

  @ParameterizedTest
  @CsvSource(textBlock = """
      PROXY TCP4 203.0.113.7 198.51.100.1 49152 5432, 203.0.113.7, 49152
      PROXY TCP6 2001:db8::7 2001:db8::1 49152 5432,  2001:db8:0:0:0:0:0:7, 49152
      PROXY UNKNOWN,                                  127.0.0.1, 0
      PROXY UNKNOWN ffff::1 ffff::2 65535 65535,      127.0.0.1, 0
      """)
  void aTrustedHeaderSaysWhoTheClientIs_inText(String header, String client, int clientPort)
      throws Exception {
    echoes();
    try (var peer = client()) {
      peer.send(header + "\r\nselect").endOutput();
      assertThat(peer.readToEnd()).isEqualTo("got select");
      var seen = ended();
      assertThat(seen.peer()).isEqualTo(client);
      assertThat(seen.peerPort()).isEqualTo(clientPort == 0 ? peer.localPort() : clientPort);
    }
  }

  @ParameterizedTest
  @CsvSource(textBlock = """
      2111000c cb007107c6336401c0001538,                                        203.0.113.7
      21110013 cb007107c6336401c0001538 04000400000000,                         203.0.113.7
      21210024 20010db800000000000000000000000720010db8000000000000000000000001c0001538, 2001:db8:0:0:0:0:0:7
      21000000,                                                                 127.0.0.1
      21000003 010203,                                                          127.0.0.1
      """)
  void aTrustedHeaderSaysWhoTheClientIs_inBinary(String header, String client) throws Exception {
    echoes();
    try (var peer = client()) {
      peer.send(hex(V2 + header.replace(" ", ""))).send("select").endOutput();
      assertThat(peer.readToEnd()).isEqualTo("got select");
      assertThat(ended().peer()).isEqualTo(client);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"50524f585920544350342031302e302e302e312031302e302e302e32203120320d0a",
      V2_IPV4})
  void aHeaderMayComeInPieces(String header) throws Exception {
    echoes();
    try (var peer = client()) {
      for (byte one : hex(header)) {
        peer.send(new byte[]{one});
      }
      peer.send("select").endOutput();
      assertThat(peer.readToEnd()).isEqualTo("got select");
    }
  }

  @Test
  void aServerMaySpeakFirst_afterTheHeader() throws Exception {
    pod(caller -> caller.send("ready"));
    try (var peer = client()) {
      peer.send("PROXY TCP4 203.0.113.7 198.51.100.1 49152 5432\r\n");
      assertThat(peer.read(5)).isEqualTo("ready");
    }
  }

  @ParameterizedTest
  @CsvSource(quoteCharacter = '"', textBlock = """
      "GET / HTTP/1.1",                                   begins without a PROXY header
      PING,                                               begins without a PROXY header
      "PROXY TCP4 256.0.0.1 10.0.0.2 1 2\\r\\n",          header is invalid
      "PROXY TCP4 10.0.0.1 10.0.0.2 1 65536\\r\\n",       header is invalid
      "PROXY TCP4 10.0.0.1 10.0.0.2\\r\\n",               header is invalid
      "PROXY TCP4 2001:db8::7 10.0.0.2 1 2\\r\\n",        header is invalid
      "PROXY TCP6 fe80::1%nothing fe80::2%nothing 1 2\\r\\n", header is invalid
      "PROXY TCP5 10.0.0.1 10.0.0.2 1 2\\r\\n",          header is invalid
      """)
  void anInvalidTextIsRefused_andStartsNothing(String text, String reason) throws Exception {
    refuses(text.replace("\\r\\n", "\r\n").getBytes(StandardCharsets.US_ASCII), reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"3111000ccb007107c6336401c0001538", "2f11000ccb007107c6336401c0001538",
      "21110004cb007107", "2111ffff", "21110011cb007107c6336401c000153804ffff0102",
      "2131000ccb007107c6336401c0001538"})
  void anInvalidBinaryIsRefused_andStartsNothing(String header) throws Exception {
    // The length of the fourth is only exceeded by what follows.
    refuses(hex(V2 + header + "00".repeat(5000)), "header is invalid");
  }

  @Test
  void aLongTextIsRefused_beforeItsEnd() throws Exception {
    refuses(("PROXY " + "x".repeat(1000)).getBytes(StandardCharsets.US_ASCII),
        "header is invalid");
  }

  private void refuses(byte[] bytes, String reason) throws IOException {
    try (var peer = client()) {
      peer.send(bytes);
      assertThatThrownBy(peer::readToEnd).isInstanceOf(SocketException.class);
      eventually(() -> assertThat(refusals(peer)).hasSize(1));
      assertThat(refusals(peer).getFirst()).contains(reason);
    }
    assertThat(activator.arrivals).hasValue(0);
    assertThat(activator.requests.ended).isEmpty();
  }

  @Test
  void aHeaderThatDoesNotComeInTimeIsRefused_andStartsNothing() throws Exception {
    listen(Duration.ofSeconds(1), "127.0.0.1");
    refuses("PROXY TCP4".getBytes(StandardCharsets.US_ASCII), "did not come in time");
  }

  @Test
  void aConnectionOfTheLoadBalancerItselfStartsNothing_andIsClosedInOrder() throws Exception {
    listen(Duration.ofSeconds(2), "127.0.0.1");
    try (var check = client(); var asks = client()) {
      asks.send(hex(V2 + "2011000ccb007107c6336401c0001538")).send("PING\r\n");
      check.send(hex(V2 + "20000000")).endOutput();
      assertThat(check.readToEnd()).isEmpty();
      assertThat(asks.readToEnd()).isEmpty();
      assertThat(refusals(check)).isEmpty();
      assertThat(refusals(asks)).isEmpty();
    }
    assertThat(activator.arrivals).hasValue(0);
  }

  @Test
  void aClientThatLeavesBeforeItsHeaderIsNoRefusal() throws Exception {
    try (var peer = client(); var other = client()) {
      peer.send("PROXY");
      other.send("PROXY");
      eventually(() -> assertThat(activator.held.total()).isEqualTo(10));
      other.reset();
      peer.close();
      eventually(() -> assertThat(activator.held.total()).isZero());
      assertThat(refusals(peer)).isEmpty();
      assertThat(refusals(other)).isEmpty();
    }
    assertThat(activator.arrivals).hasValue(0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHeaderOfAnotherAddressIsRefused(boolean inPieces) throws Exception {
    listen(Duration.ofSeconds(100), "10.0.0.0/8");
    echoes();
    try (var peer = client()) {
      for (var piece : inPieces ? List.of("PRO", "XY ") : List.of("PROXY TCP4 ")) {
        peer.send(piece);
      }
      assertThatThrownBy(peer::readToEnd).isInstanceOf(SocketException.class);
      eventually(() -> assertThat(refusals(peer)).hasSize(1));
      assertThat(refusals(peer).getFirst()).contains("does not name its address");
    }
  }

  @Test
  void whatBeginsLikeAHeaderIsPassedOn() throws Exception {
    listen(Duration.ofSeconds(100), "10.0.0.0/8");
    pod(caller -> caller.send("got " + caller.read(2)).send(caller.readToEnd()));
    try (var peer = client()) {
      peer.send("PR");
      assertThat(peer.read(6)).isEqualTo("got PR");
      peer.send("INT").endOutput();
      assertThat(peer.readToEnd()).isEqualTo("INT");
    }
  }

  @Test
  void withoutTrustedAddressesAHeaderIsData() throws Exception {
    listen(Duration.ofSeconds(100));
    echoes();
    try (var peer = client()) {
      peer.send("PROXY UNKNOWN\r\n").endOutput();
      assertThat(peer.readToEnd()).isEqualTo("got PROXY UNKNOWN\r\n");
    }
  }

  @Test
  void aPodThatGetsHeadersGetsNoneOfOthers() throws Exception {
    podsGet("v1");
    listen(Duration.ofSeconds(100));
    echoes();
    try (var peer = client()) {
      peer.send("PROXY TCP4 1.1.1.1 2.2.2.2 3 4\r\n");
      assertThatThrownBy(peer::readToEnd).isInstanceOf(SocketException.class);
    }
  }

  @Test
  void aPodGetsTheAddressesOfTheSocket() throws Exception {
    podsGet("v1");
    listen(Duration.ofSeconds(100));
    echoes();
    try (var peer = client()) {
      peer.send("select").endOutput();
      assertThat(peer.readToEnd()).isEqualTo("got PROXY TCP4 127.0.0.1 127.0.0.1 "
          + peer.localPort() + " " + port + "\r\nselect");
    }
  }

  @ParameterizedTest
  @CsvSource(textBlock = """
      v1, PROXY TCP4 203.0.113.7 198.51.100.1 49152 5432
      v1, PROXY TCP6 2001:db8::7 2001:db8::1 49152 5432
      v1, PROXY TCP6 ::ffff:203.0.113.7 2001:db8::1 49152 5432
      """)
  void aPodGetsTheAddressesOfATrustedHeader_inText(String version, String header)
      throws Exception {
    podsGet(version);
    echoes();
    try (var peer = client()) {
      peer.send(header + "\r\nselect").endOutput();
      assertThat(peer.readToEnd()).isEqualTo("got " + header + "\r\nselect");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {V2_IPV4, V2
      + "2121002420010db800000000000000000000000720010db8000000000000000000000001c0001538"})
  void aPodGetsTheAddressesOfATrustedHeader_inBinary(String header) throws Exception {
    podsGet("v2");
    echoes();
    try (var peer = client()) {
      peer.send(hex(header)).send("select").endOutput();
      var expected = new String(hex(header), StandardCharsets.ISO_8859_1) + "select";
      assertThat(peer.readToEnd()).isEqualTo("got " + expected);
    }
  }

  @Test
  void anotherPodGetsTheHeader_ifTheFirstOneFails() throws Exception {
    podsGet("v1");
    var other = idlePod(caller -> received.add(caller.readLine()));
    var first = idlePod(RawPeer::close);
    activator.throttle.retriesGoTo(other.destination());
    activator.throttle.grow(first.destination(), 1);
    try (var peer = client()) {
      peer.send("PROXY TCP4 203.0.113.7 198.51.100.1 49152 5432\r\n");
      assertThat(next(received)).isEqualTo("PROXY TCP4 203.0.113.7 198.51.100.1 49152 5432");
    }
  }
}
