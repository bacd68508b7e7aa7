package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.Outlet;
import dev.activator.embedded.api.cache.Signal;
import dev.activator.embedded.api.cache.WatchRequest;
import dev.activator.embedded.api.cache.WatchRequest.Bookmarks;
import dev.activator.embedded.api.faults.WatchTap;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.FluxSink.OverflowStrategy;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Serves watches: as lines of one chunked response, or as messages of a WebSocket. What a watch
 * cannot do is told in the stream: the response began before anyone knew.
 */
final class Watches {
  /** Clients split the stream by line. */
  private static final byte[] LINE_END = {'\n'};
  /** Stands for no event: the head of the response goes out when the watch is on, not before. */
  private static final byte[] BEGIN = {};
  /** How many events may wait for the connection's thread; the rest wait in the watcher. */
  private static final int AHEAD = 8;
  private static final int SHORTEST_MINUTES = 30;
  private static final int LONGEST_MINUTES = 60;

  private final Caches caches;
  private final Reads reads;
  private final RandomGenerator random;
  private final OpenWatches open = new OpenWatches();
  private final WebSocketService sockets = new HandshakeWebSocketService(
      new ReactorNettyRequestUpgradeStrategy());

  Watches(Caches caches, Reads reads, RandomGenerator random) {
    this.caches = caches;
    this.reads = reads;
    this.random = random;
  }

  Mono<ServerResponse> watch(Target target, ServerRequest request) {
    var query = new Query(request);
    var tap = WatchTap.of(request.exchange().getRequest());
    var events = tap.over(events(target, query, tap)).publishOn(ConnectionThread.of(request),
        AHEAD);
    boolean upgrade = request.headers().header("Upgrade").stream()
        .anyMatch("websocket"::equalsIgnoreCase);
    return upgrade ? messages(events) : lines(events);
  }

  /** Those that are on. */
  OpenWatches open() {
    return open;
  }

  private Mono<ServerResponse> lines(Flux<byte[]> events) {
    var buffers = DefaultDataBufferFactory.sharedInstance;
    Flux<Flux<DataBuffer>> groups = events.map(event -> event.length == 0
        ? Flux.empty()
        : Flux.just(buffers.wrap(event), buffers.wrap(LINE_END)));
    return ServerResponse.ok().contentType(MediaType.APPLICATION_JSON)
        .build((exchange, _) -> exchange.getResponse().writeAndFlushWith(groups));
  }

  private Mono<ServerResponse> messages(Flux<byte[]> events) {
    return ServerResponse.ok().build((exchange, _) -> sockets.handleRequest(exchange,
        session -> send(session, events)));
  }

  private static Mono<Void> send(WebSocketSession session, Flux<byte[]> events) {
    // What the client says is read to the end: to stop reading would close without a status.
    var gone = Sinks.<Void>empty();
    var reading = session.receive().doFinally(_ -> gone.tryEmitEmpty()).then();
    var messages = events.takeUntilOther(gone.asMono()).filter(event -> event.length > 0)
        .map(event -> session.textMessage(new String(event, StandardCharsets.UTF_8)));
    return Mono.when(reading, session.send(messages).then(session.close(CloseStatus.NORMAL)));
  }

  private Flux<byte[]> events(Target target, Query query, WatchTap tap) {
    var cache = caches.of(target.kind());
    cache.requireReady();
    var form = reads.form(target, query);
    var watch = new WatchRequest(query.read().watch(), query.selection(target),
        query.yes("allowWatchBookmarks") ? Bookmarks.WANTED : Bookmarks.UNWANTED,
        timeout(query.number("timeoutSeconds")));
    return Flux.create(sink -> {
      var session = cache.watch(watch, tap.over(new ToSink(sink, form.events())));
      tap.opened(session);
      open.add(session);
      sink.onRequest(_ -> session.resume());
      sink.onDispose(() -> {
        open.remove(session);
        session.cancel();
      });
    }, OverflowStrategy.BUFFER);
  }

  private Duration timeout(long seconds) {
    return seconds > 0
        ? Duration.ofSeconds(seconds)
        : Duration.ofMinutes(SHORTEST_MINUTES)
            .plusSeconds(random.nextInt((LONGEST_MINUTES - SHORTEST_MINUTES) * 60));
  }

  private record ToSink(FluxSink<byte[]> sink, Form.EventEncoder encoder) implements Outlet {
    @Override
    public void begin() {
      sink.next(BEGIN);
    }

    @Override
    public boolean ready() {
      return sink.requestedFromDownstream() > 0;
    }

    @Override
    public void send(Signal signal) {
      sink.next(encoder.encode(signal));
    }

    @Override
    public void end() {
      sink.complete();
    }
  }
}
