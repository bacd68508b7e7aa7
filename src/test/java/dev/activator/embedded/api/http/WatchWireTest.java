package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.labelled;
import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.EmbeddedApiServer;
import dev.activator.embedded.api.cache.WatchCacheSettings;
import dev.activator.embedded.api.cache.Forwarding;
import dev.activator.embedded.api.cache.CacheWatcher;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.loop.NettyLoop;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.RawPeer;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.netty.http.server.HttpServer;

class WatchWireTest {
  private static final String PATH = "/api/v1/namespaces/default/configmaps?watch=true";

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  @AutoClose
  private final Wire wire = new Wire(api.url(), api.port());

  @Test
  @DisplayName("sends its head before anything happens, then a line for each event")
  void sendsItsHeadBeforeAnythingHappensThenALineForEachEvent() {
    // given a watch of an empty collection, whose head is there
    try (var lines = wire.lines(PATH)) {
      assertThat(lines.head().statusCode()).isEqualTo(200);
      assertThat(lines.head().headers().firstValue("Content-Type")).hasValue("application/json");
      assertThat(lines.head().headers().firstValue("Transfer-Encoding")).hasValue("chunked");

      // when an object comes, changes and goes
      var added = store.create(CONFIG_MAP, with(named("a"), "k", "1"));
      var changed = store.writes().update(CONFIG_MAP, with(named("a"), "k", "2"));
      store.delete(CONFIG_MAP, "default", "a");

      // then each is one line
      assertThat(lines.next()).isEqualTo("{\"type\":\"ADDED\",\"object\":" + added + "}");
      assertThat(lines.next()).isEqualTo("{\"type\":\"MODIFIED\",\"object\":" + changed + "}");
      var last = changed.deepCopy();
      ObjectMeta.of(last).put("resourceVersion", Long.toString(store.revision()));
      assertThat(lines.next()).isEqualTo("{\"type\":\"DELETED\",\"object\":" + last + "}");
    }
  }

  @Test
  void sendsNothingButAscii() {
    store.create(CONFIG_MAP, with(named("a"), "k", "h\u00e4\ud83d\ude00"));

    try (var lines = wire.lines(PATH)) {
      assertThat(lines.next()).contains("{\"k\":\"h\\u00E4\\uD83D\\uDE00\"}");
    }
  }

  @Test
  void filtersByLabel() {
    try (var lines = wire.lines(PATH + "&labelSelector=l%20in%20(1,2)")) {
      store.create(CONFIG_MAP, labelled("x", "l", "3"));
      store.create(CONFIG_MAP, labelled("y", "l", "2"));

      assertThat(lines.next()).contains("\"name\":\"y\"");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/api/v1/watch/configmaps", "/api/v1/watch/namespaces/default/configmaps",
      "/api/v1/watch/namespaces/default/configmaps/b"})
  void watches_whenThePathSaysSo(String path) {
    try (var lines = wire.lines(path + "?fieldSelector=metadata.name!=a")) {
      store.create(CONFIG_MAP, named("a"));
      store.create(CONFIG_MAP, named("b"));

      assertThat(lines.next()).startsWith("{\"type\":\"ADDED\"").contains("\"name\":\"b\"");
    }
  }

  @Test
  void saysInTheStreamThatAVersionIsTooOld() {
    long oldest = store.revision();

    try (var lines = wire.lines(PATH + "&resourceVersion=1")) {
      assertThat(lines.head().statusCode()).isEqualTo(200);
      assertThat(lines.next()).isEqualTo("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
          + "\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"
          + "\"too old resource version: 1 (" + oldest + ")\",\"reason\":\"Expired\","
          + "\"code\":410}}");
      assertThat(lines.ends()).isTrue();
    }
  }

  @Test
  void marksTheEndOfTheInitialEvents() {
    var a = store.create(CONFIG_MAP, named("a"));
    long now = store.revision();

    try (var lines = wire.lines(PATH + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        + "&allowWatchBookmarks=true")) {
      assertThat(lines.next()).isEqualTo("{\"type\":\"ADDED\",\"object\":" + a + "}");
      assertThat(lines.next()).isEqualTo("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\""
          + ",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" + now
          + "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}");
    }
  }

  @Test
  void endsWhenItsTimeIsOver() {
    try (var lines = wire.lines(PATH + "&timeoutSeconds=2")) {
      assertThat(lines.ends()).isTrue();
    }
  }

  @Test
  void endsAfterItsBacklogIfItsTimeIsOverAtTheStart() {
    store.create(CONFIG_MAP, named("a"));

    try (var lines = wire.lines(PATH + "&timeoutSeconds=-1")) {
      assertThat(lines.head().statusCode()).isEqualTo(200);
      assertThat(lines.next()).contains("\"name\":\"a\"");
      assertThat(lines.ends()).isTrue();
    }
  }

  @Test
  void warnsOfEndpointsInEachResponse() {
    String endpoints = "/api/v1/namespaces/default/endpoints";
    String warning = "299 - \"v1 Endpoints is deprecated in v1.33+;"
        + " use discovery.k8s.io/v1 EndpointSlice\"";

    try (var lines = wire.lines(endpoints + "?watch=1&timeoutSeconds=-1")) {
      assertThat(lines.head().headers().allValues("Warning")).containsExactly(warning);
    }
    assertThat(wire.get(endpoints).headers().allValues("Warning")).containsExactly(warning);
    assertThat(wire.get(endpoints + "/none").headers().allValues("Warning"))
        .containsExactly(warning);
    assertThat(wire.post(endpoints, "{'metadata': {'name': 'e'}, 'unknown': 1}").headers()
        .allValues("Warning")).hasSize(2).contains(warning);
    assertThat(wire.get(PATH.replace("watch", "w")).headers().allValues("Warning")).isEmpty();
  }

  @Test
  @DisplayName("refuses parameters that do not go together before it begins")
  void refusesParametersBeforeItBegins() {
    var response = wire.get(PATH + "&sendInitialEvents=true");

    assertThat(response.statusCode()).isEqualTo(422);
    var status = Json.MAPPER.readTree(response.body());
    assertThat(status.at("/details/kind").stringValue()).isEqualTo("ListOptions");
    assertThat(status.at("/details/causes/0/field").stringValue())
        .isEqualTo("resourceVersionMatch");
    assertThat(status.at("/details/causes/0/reason").stringValue())
        .isEqualTo("FieldValueForbidden");
  }

  @Test
  @DisplayName("sends the same events over a WebSocket")
  void sendsTheSameEventsOverAWebSocket() throws Exception {
    // given both kinds of watch
    var received = new Listener();
    try (var timed = EmbeddedApi.stepped();
        var wire = new Wire(timed.url(), timed.port());
        var lines = wire.lines(PATH)) {
      var socket = wire.client().newWebSocketBuilder()
          .buildAsync(URI.create(timed.url().replace("http", "ws") + PATH + "&timeoutSeconds=3"),
              received)
          .get(120, TimeUnit.SECONDS);

      // when things happen
      timed.store().create(CONFIG_MAP, named("a"));
      timed.store().delete(CONFIG_MAP, "default", "a");

      // then both tell the same
      assertThat(received.next()).isEqualTo(lines.next());
      assertThat(received.next()).isEqualTo(lines.next());
      // and the socket answers pings, and closes as it should when its time is over
      socket.sendPing(ByteBuffer.wrap("hi".getBytes(StandardCharsets.US_ASCII)));
      assertThat(received.next()).isEqualTo("pong hi");
      timed.advance(Duration.ofSeconds(3));
      assertThat(received.next()).isEqualTo("closed 1000");
    }
  }

  @ParameterizedTest(name = "over a WebSocket: {0}")
  @ValueSource(booleans = {false, true})
  void beginsBeforeItIsAnswered(boolean overWebSocket) throws Exception {
    // given a server that notes what comes first: that a watch begins, or the first bytes of an answer
    var order = new CopyOnWriteArrayList<String>();
    var threads = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    var server = new EmbeddedApiServer(store, new NettyLoop(threads.next()),
        new InetSocketAddress("127.0.0.1", 0), WatchCacheSettings.DEFAULT,
        new ApiServerTestHooks() {
          @Override
          public HttpServer server(HttpServer plain) {
            return plain.doOnChannelInit((_, channel, _) -> channel.pipeline()
                .addFirst(new ChannelOutboundHandlerAdapter() {
                  @Override
                  public void write(ChannelHandlerContext context, Object bytes,
                      ChannelPromise written) {
                    order.add("answer");
                    context.write(bytes, written);
                  }
                }));
          }

          @Override
          public CacheWatcher.Outlet events(ServerHttpRequest request, CacheWatcher.Outlet outlet) {
            return new Forwarding(outlet) {
              @Override
              public void begin(CacheWatcher watch) {
                order.add("watch");
                super.begin(watch);
              }
            };
          }
        });
    server.start();

    // when a client watches
    try (var client = RawPeer.connect(server.port())) {
      client.send("GET " + PATH + " HTTP/1.1\r\nHost: localhost\r\n" + (overWebSocket
          ? "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
              + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
          : "\r\n"));
      assertThat(client.readHead().start()).contains(overWebSocket ? "101" : "200");
    } finally {
      server.stop();
      threads.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    // then what it writes once it is answered is an event
    assertThat(order).startsWith("watch", "answer");
  }

  @Test
  void keepsServingOthersWhileOneClientReadsNothing() throws Exception {
    // given a client that asks for everything and reads nothing
    try (var stuck = new Socket("127.0.0.1", api.port());
        var lines = wire.lines("/api/v1/endpoints?watch=1")) {
      stuck.setReceiveBufferSize(4_096);
      stuck.getOutputStream().write(("GET /api/v1/endpoints?watch=1 HTTP/1.1\r\nHost: localhost\r\n"
          + "\r\n").getBytes(StandardCharsets.US_ASCII));

      // when far more is written than fits in any buffer
      String large = "x".repeat(100_000);
      var seen = new ArrayList<String>();
      for (int i = 0; i < 300; i++) {
        store.create(ENDPOINTS, with(named("e" + i), "k", large));
        seen.add(Json.MAPPER.readTree(lines.next()).at("/object/metadata/name").stringValue());
      }

      // then the other sees it all, in order
      assertThat(seen).hasSize(300).startsWith("e0", "e1").endsWith("e299");
      assertThat(wire.get("/api/v1/endpoints?limit=1").statusCode()).isEqualTo(200);
    }
  }

  /** Writes down what a WebSocket says. */
  private static final class Listener implements WebSocket.Listener {
    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
    private final StringBuilder text = new StringBuilder();

    String next() throws InterruptedException {
      return received.poll(120, TimeUnit.SECONDS);
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        received.add(text.toString());
        text.setLength(0);
      }
      socket.request(1);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<?> onPong(WebSocket socket, ByteBuffer message) {
      received.add("pong " + StandardCharsets.US_ASCII.decode(message));
      socket.request(1);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      received.add("closed " + code);
      return CompletableFuture.completedFuture(null);
    }
  }
}
