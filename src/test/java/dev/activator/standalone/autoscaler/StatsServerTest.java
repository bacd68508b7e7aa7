package dev.activator.standalone.autoscaler;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.standalone.autoscaler.ReportBatch.Entry;
import dev.activator.revision.RevisionId;
import dev.activator.testing.RawPeer;
import dev.activator.testing.TestValues;
import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.netty.resources.LoopResources;

class StatsServerTest {
  private final BlockingQueue<Entry> reports = new LinkedBlockingQueue<>();
  private final LoopResources loops = LoopResources.create("test", 1, true);
  private final StatsServer server = server(0);
  private final HttpClient http = HttpClient.newHttpClient();
  private final Events events = new Events();

  @BeforeEach
  void start() {
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop();
    http.shutdownNow();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(30)).block();
  }

  @Test
  void refusesReportsWhileAnotherLeadsAndSendsThemAwayWhenItStopsToLead() throws Exception {
    var leads = new AtomicBoolean();
    var elected = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", 0), batch -> batch.entries().forEach(reports::add),
        leads::get);
    elected.start();
    try {
      var address = URI.create("ws://127.0.0.1:" + elected.port() + "/");
      assertThat(http.newWebSocketBuilder().buildAsync(address, events)).failsWithin(120, SECONDS)
          .withThrowableThat().withCauseInstanceOf(WebSocketHandshakeException.class);

      leads.set(true);
      http.newWebSocketBuilder().buildAsync(address, events).get(120, SECONDS);
      elected.disconnect();
      assertThat(events.closed.get(120, SECONDS)).startsWith("1012");
    } finally {
      elected.stop();
    }
  }

  @Test
  void readsAFirstRequestMessage() throws Exception {
    var socket = connect();

    // the bytes Knative's activator sends for namespace ns, revision rev, pod activator-1
    socket.sendBinary(bytes("0a2a0a026e7312037265761a1f0a0b616374697661746f722d3111"
        + "000000000000f03f21000000000000f03f"), true).get(120, SECONDS);

    assertThat(reports.poll(120, SECONDS))
        .isEqualTo(new Entry(new RevisionId("ns", "rev"), TestValues.sample("activator-1", 1, 1)));
  }

  @Test
  void readsAllMessagesOfAFrameThatCarryStatistics() throws Exception {
    var socket = connect();
    var batch = WireStatMessages.newBuilder().addMessages(message("one", 1.5))
        .addMessages(WireStatMessage.newBuilder().setNamespace("ns").setName("empty"))
        .addMessages(message("", 1)).addMessages(message("two", 2)).build();

    socket.sendBinary(ByteBuffer.wrap(batch.toByteArray()), true).get(120, SECONDS);

    assertThat(reports.poll(120, SECONDS)).isEqualTo(report("one", 1.5));
    assertThat(reports.poll(120, SECONDS)).isEqualTo(report("two", 2));
  }

  @Test
  void keepsTheConnectionAfterWhatItCannotDecode() throws Exception {
    var socket = connect();

    socket.sendBinary(bytes("ffffffff"), true).get(120, SECONDS);
    socket.sendText("hello", true).get(120, SECONDS);
    var batch = WireStatMessages.newBuilder().addMessages(message("one", 1)).build();
    socket.sendBinary(ByteBuffer.wrap(batch.toByteArray()), true).get(120, SECONDS);

    assertThat(reports.poll(120, SECONDS)).isEqualTo(report("one", 1));
  }

  @Test
  void anAcknowledgementIsNoLoad() {
    var stat = Stat.newBuilder().setPodName("a").setAcknowledged(7);

    var batch = ReportBatch.decode(WireStatMessages.newBuilder().addMessages(
        WireStatMessage.newBuilder().setNamespace("ns").setName("one").setStat(stat)).build());

    assertThat(batch.acknowledged()).isEqualTo(Map.of(new RevisionId("ns", "one"), 7L));
    assertThat(batch.entries()).isEmpty();
  }

  @Test
  void answersPings() throws Exception {
    connect().sendPing(ByteBuffer.allocate(0)).get(120, SECONDS);

    events.pong.get(120, SECONDS);
  }

  @Test
  void saysThatItRestartsWhenItStops() throws Exception {
    connect();

    server.stop();

    assertThat(events.closed.get(120, SECONDS)).isEqualTo("1012 Restarting");
  }

  @Test
  void answersTheKubelet() throws Exception {
    var request = HttpRequest
        .newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/healthz"))
        .header("User-Agent", "kube-probe/1.15.i.wish").build();

    assertThat(http.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"Host: 127.0.0.1:PORT|101", "Host: localhost|101",
      "Host: localhost:PORT\\r\\nOrigin: http://localhost:PORT|101", "Host: evil.example:PORT|403",
      "Host: 127.0.0.1:PORT\\r\\nOrigin: https://evil.example|403",
      "Host: 127.0.0.1:PORT\\r\\nOrigin: null|403",
      "Host: 127.0.0.1:PORT\\r\\nOrigin: http://localhost:3000|403",
      "Host: evil.example\\r\\nK-Kubelet-Probe: x|403"})
  void takesNoConnectionOfAWebPage(String headers, int status) throws Exception {
    try (var peer = RawPeer.connect(server.port())) {
      peer.send("GET / HTTP/1.1\r\n"
          + headers.replace("\\r\\n", "\r\n").replace("PORT", String.valueOf(server.port()))
          + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");

      assertThat(peer.readHead().start()).startsWith("HTTP/1.1 " + status + " ");
    }
  }

  @Test
  void knowsItsOwnIpv6AddressAsItIsInUrls() {
    var names = StatsServer.names(new InetSocketAddress("fd00::1:2", 8080), 8080);

    assertThat(names.refusal(List.of("[fd00::1:2]:8080"), List.of())).isNull();
    assertThat(names.refusal(List.of("[fd00::1:3]:8080"), List.of())).isNotNull();
  }

  @Test
  void saysWhichAddressIsInUse() {
    var second = server(server.port());

    assertThatThrownBy(second::start).hasMessageContaining("127.0.0.1:" + server.port());
  }

  private StatsServer server(int port) {
    return new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", port),
        batch -> batch.entries().forEach(reports::add));
  }

  private WebSocket connect() throws Exception {
    return http.newWebSocketBuilder()
        .buildAsync(URI.create("ws://127.0.0.1:" + server.port() + "/"), events).get(120, SECONDS);
  }

  private static Entry report(String name, double concurrency) {
    return new Entry(new RevisionId("ns", name), TestValues.sample("a", concurrency, 3));
  }

  private static WireStatMessage message(String name, double concurrency) {
    return WireStatMessage.newBuilder().setNamespace("ns").setName(name)
        .setStat(Stat.newBuilder().setPodName("a").setAverageConcurrentRequests(concurrency)
            .setRequestCount(3))
        .build();
  }

  private static ByteBuffer bytes(String hex) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
  }

  private static final class Events implements WebSocket.Listener {
    final CompletableFuture<String> closed = new CompletableFuture<>();
    final CompletableFuture<String> pong = new CompletableFuture<>();

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      closed.complete(code + " " + reason);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<?> onPong(WebSocket socket, ByteBuffer message) {
      pong.complete("");
      socket.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }
}
