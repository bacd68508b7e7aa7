package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.testing.TestRevisions;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FreePort;
import dev.activator.testing.quiescence.Quiescence;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import java.net.URI;
import java.net.UnknownHostException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.WebsocketServerSpec;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.http.websocket.WebsocketOutbound;
import reactor.netty.resources.LoopResources;

/** Over real sockets: a small server stands for the autoscaler. */
class AutoscalerLinkWireTest {
  private static final RevisionId A = new RevisionId("ns", "a");
  private static final RevisionId LEFT = new RevisionId("ns", "left");
  private static final AutoscalerLink.Timings QUICK = new AutoscalerLink.Timings(
      Duration.ofSeconds(20),
      Duration.ofMillis(20), Duration.ofMillis(300));
  private static final long WAIT_SECONDS = 120;

  private final LoopResources threads = LoopResources.create("link-test", 1, true);
  private final NettyLoop loop = new NettyLoop((EventLoop) threads.onClient(true).next());
  private final BlockingQueue<RevisionStat> received = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> pings = new LinkedBlockingQueue<>();
  private final BlockingQueue<HttpHeaders> handshakes = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> changes = new LinkedBlockingQueue<>();
  private volatile Sinks.Empty<Void> restart = Sinks.empty();
  private @Nullable DisposableServer server;
  private @Nullable AutoscalerLink link;

  @AfterEach
  void stop() {
    if (link != null) {
      link.close();
    }
    if (server != null) {
      server.disposeNow(Duration.ofSeconds(WAIT_SECONDS));
    }
    threads.disposeLater(Duration.ZERO, Duration.ofSeconds(WAIT_SECONDS))
        .block(Duration.ofSeconds(WAIT_SECONDS));
  }

  private int serve(int port, WebsocketServerSpec spec) {
    var http = HttpServer.create().host("127.0.0.1").port(port)
        .route(routes -> routes.ws("/", this::talk, spec));
    // A program that another test starts holds a port that was closed until it runs.
    var started = await().ignoreExceptionsInstanceOf(ChannelBindException.class)
        .until(() -> http.bindNow(Duration.ofSeconds(WAIT_SECONDS)), _ -> true);
    server = started;
    return started.port();
  }

  private Publisher<Void> talk(WebsocketInbound in, WebsocketOutbound out) {
    var restarts = restart.asMono();
    handshakes.add(in.headers());
    in.withConnection(connection -> connection.onDispose(() -> ended.add("ended")));
    var closed = restarts.then(Mono.defer(() -> out.sendClose(1012, "Restarting")));
    var read = in.receiveFrames().doOnNext(frame -> {
      if (frame instanceof BinaryWebSocketFrame) {
        byte[] bytes = new byte[frame.content().readableBytes()];
        frame.content().readBytes(bytes);
        received.addAll(FakeAutoscaler.decoded(bytes));
      } else if (frame instanceof PingWebSocketFrame) {
        pings.add("ping of " + frame.content().readableBytes() + " bytes");
      }
    }).then();
    return Mono.when(closed, read);
  }

  /** Says that it restarts, and closes the connection that was opened last. */
  private void hangUp() throws InterruptedException {
    // The other side may know of the connection before this one does.
    assertThat(next(handshakes)).isNotNull();
    var closing = restart;
    restart = Sinks.empty();
    closing.tryEmitEmpty();
  }

  @Test
  void saysThatANameHasNoAddress() {
    assertThat(WebSocketDialer.reason("autoscaler.example",
        new UnknownHostException("Failed to resolve [A(1)] after 2 queries ")))
        .isEqualTo("the name autoscaler.example has no address");
    assertThat(WebSocketDialer.reason("autoscaler.example", new IOException(
        "finishConnect(..) failed with error(-111): Connection refused: /10.0.0.7:8080")))
        .isEqualTo("Connection refused: /10.0.0.7:8080");
    assertThat(WebSocketDialer.reason("autoscaler.example", new IOException("refused ")))
        .isEqualTo("refused");
  }

  private AutoscalerLink linkTo(int port, AutoscalerLink.Timings timings) {
    var made = AutoscalerLink.to(() -> URI.create("ws://127.0.0.1:" + port), loop, "activator-1",
        timings, new Random(1));
    made.onChange(new AutoscalerLink.Listener() {
      @Override
      public void connected() {
        changes.add("connected");
      }

      @Override
      public void lost() {
        changes.add("lost");
      }
    });
    link = made;
    return made;
  }

  /** Remembers what it was told of a connection. */
  private static final class Heard implements StatSocket.Events {
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    @Override
    public void opened() {
      events.add("opened");
    }

    @Override
    public void ponged() {
      events.add("ponged");
    }

    @Override
    public void closed(String why) {
      events.add(why);
    }
  }

  private static <T> @Nullable T next(BlockingQueue<T> queue) throws InterruptedException {
    return queue.poll(WAIT_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  @DisplayName("frames arrive, in order")
  void framesArriveInOrder() throws Exception {
    var open = linkTo(serve(0, WebsocketServerSpec.builder().build()),
        AutoscalerLink.Timings.DEFAULT);
    open.open();
    assertThat(next(changes)).isEqualTo("connected");
    open.atOnce(List.of(RevisionStat.first(A)));

    assertThat(next(received)).isEqualTo(RevisionStat.first(A));
    for (int i = 1; i <= 100; i++) {
      open.report(List.of(new RevisionStat(A, i, i)));
    }
    for (int i = 1; i <= 100; i++) {
      assertThat(next(received)).isEqualTo(new RevisionStat(A, i, i));
    }
  }

  @Test
  @DisplayName("the handshake offers nothing the autoscaler does not know")
  void theHandshakeOffersNothingTheAutoscalerDoesNotKnow() throws Exception {
    int port = serve(0, WebsocketServerSpec.builder().build());
    linkTo(port, AutoscalerLink.Timings.DEFAULT).open();

    var headers = next(handshakes);

    assertThat(headers.get("host")).isEqualTo("127.0.0.1:" + port);
    assertThat(headers.get("sec-websocket-version")).isEqualTo("13");
    assertThat(headers.contains("sec-websocket-protocol")).isFalse();
    assertThat(headers.contains("sec-websocket-extensions")).isFalse();
    // an origin that is not the host would be refused
    assertThat(headers.get("origin")).isIn(null, "http://127.0.0.1:" + port);
  }

  @Test
  void aPongIsReported() throws Exception {
    int port = serve(0, WebsocketServerSpec.builder().build());
    var dialer = new WebSocketDialer(() -> URI.create("ws://127.0.0.1:" + port), loop);
    var listener = new Heard();

    var socket = dialer.dial(listener);
    assertThat(next(listener.events)).isEqualTo("opened");
    loop.execute(socket::ping);

    assertThat(next(listener.events)).isEqualTo("ponged");
    loop.execute(socket::close);
  }

  @Test
  void aRefusedConnectionIsReportedWithItsReason() throws Exception {
    int port = FreePort.next();
    var listener = new Heard();

    loop.execute(
        () -> new WebSocketDialer(() -> URI.create("ws://127.0.0.1:" + port), loop).dial(listener));

    assertThat(next(listener.events)).contains("Connection refused");
  }

  @Test
  @DisplayName("a server that never answers a ping is dropped")
  void aServerThatNeverAnswersAPingIsDropped() throws Exception {
    linkTo(serve(0, WebsocketServerSpec.builder().handlePing(true).build()), QUICK).open();

    assertThat(next(changes)).isEqualTo("connected");
    assertThat(next(pings)).isEqualTo("ping of 0 bytes");
    assertThat(next(changes)).isEqualTo("lost");
    assertThat(next(changes)).isEqualTo("connected");
  }

  @Test
  @DisplayName("a server that closes with 1012 is found again")
  void aServerThatRestartsIsFoundAgain() throws Exception {
    var open = linkTo(serve(0, WebsocketServerSpec.builder().build()),
        AutoscalerLink.Timings.DEFAULT);
    open.open();
    assertThat(next(changes)).isEqualTo("connected");

    hangUp();

    assertThat(next(changes)).isEqualTo("lost");
    assertThat(next(changes)).isEqualTo("connected");
    open.atOnce(List.of(RevisionStat.first(A)));
    assertThat(next(received)).isEqualTo(RevisionStat.first(A));
  }

  @Test
  @DisplayName("a server that comes back gets the counts of what waits, and of nothing that left")
  void aServerThatComesBackGetsWhatWaits() throws Exception {
    int port = serve(FreePort.next(), WebsocketServerSpec.builder().build());
    var open = linkTo(port, AutoscalerLink.Timings.DEFAULT);
    // Its first periodic report is a day away.
    var revisions = new TestRevisions(loop);
    var reporter = Quiescence
        .watch(new ConcurrencyReporter(revisions.live, loop, Duration.ofDays(1), open));
    open.onChange(reporter);
    var counter = reporter.onLoop(loop);
    reporter.start();
    open.open();
    assertThat(next(changes)).isEqualTo("connected");
    server.disposeNow(Duration.ofSeconds(WAIT_SECONDS));
    hangUp();
    assertThat(next(changes)).isEqualTo("lost");

    loop.execute(() -> {
      counter.of(revisions.begun(LEFT)).arrived();
      counter.of(revisions.begun(A)).arrived();
      counter.of(revisions.begun(LEFT)).left();
    });
    open.report(List.of(new RevisionStat(LEFT, 2, 2)));
    serve(port, WebsocketServerSpec.builder().build());

    assertThat(next(changes)).isEqualTo("connected");
    assertThat(next(received)).isEqualTo(RevisionStat.first(A));
    // when another message has come, then nothing came before it
    open.report(List.of(new RevisionStat(A, 1, 0)));
    assertThat(next(received)).isEqualTo(new RevisionStat(A, 1, 0));
  }

  @Test
  @DisplayName("closing closes the connection")
  void closingClosesTheConnection() throws Exception {
    var open = linkTo(serve(0, WebsocketServerSpec.builder().build()),
        AutoscalerLink.Timings.DEFAULT);
    open.open();
    assertThat(next(changes)).isEqualTo("connected");

    open.close();

    assertThat(next(ended)).isEqualTo("ended");
    assertThat(open.connected()).isFalse();
    assertThat(changes).isEmpty();
  }
}
