package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.cache.CacheWatcher;
import dev.activator.embedded.api.cache.WatchCache;
import dev.activator.embedded.api.http.WatchBatches.Batch;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink.OverflowStrategy;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The handler of watches. It sends events as lines of a chunked response, or as WebSocket messages.
 * Failures are sent in the stream, because the response has already begun.
 */
final class ApiWatchHandler {
  private static final int AHEAD = 4;
  private static final int MIN_MINUTES = 30;
  private static final int MAX_MINUTES = 60;
  private static final Duration MAX_GAP = Duration.ofMillis(10);

  private final ApiReadHandler reads;
  private final RandomGenerator random;
  private final ApiServerTestHooks hooks;
  private final Set<CacheWatcher> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;
  private final WebSocketService sockets = new HandshakeWebSocketService(
      new ReactorNettyRequestUpgradeStrategy());

  ApiWatchHandler(ApiReadHandler reads, RandomGenerator random, ApiServerTestHooks hooks) {
    this.reads = reads;
    this.random = random;
    this.hooks = hooks;
  }

  Mono<ServerResponse> watch(RequestedResource target, ServerRequest request) {
    var thread = ApiRoutes.connectionThread(request);
    return reads.cache(target.kind()).doOnNext(WatchCache::requireReady).publishOn(thread).flatMap(
        cache -> answer(request, batches(cache, target, request).publishOn(thread, AHEAD)));
  }

  private Mono<ServerResponse> answer(ServerRequest request, Flux<Batch> batches) {
    boolean upgrade = request.headers().header("Upgrade").stream()
        .anyMatch("websocket"::equalsIgnoreCase);
    return upgrade ? messages(batches) : lines(batches);
  }

  /** Ends all watches one by one within this time. Watches that begin later end at once. */
  void close(Loop loop, Duration over) {
    closed = true;
    var all = List.copyOf(open);
    long gapNanos = Math.min(MAX_GAP.toNanos(), over.toNanos() / Math.max(1, all.size()));
    for (int i = 0; i < all.size(); i++) {
      loop.schedule(Duration.ofNanos(i * gapNanos), all.get(i)::cancel);
    }
  }

  private static Mono<ServerResponse> lines(Flux<Batch> batches) {
    return ServerResponse.ok().contentType(MediaType.APPLICATION_JSON)
        .build((exchange, _) -> {
          var response = exchange.getResponse();
          // A batch is taken when the one before it has been written.
          return response.writeAndFlushWith(batches.map(
              batch -> Mono.fromSupplier(() -> batch.takeLines(response.bufferFactory()))));
        });
  }

  private Mono<ServerResponse> messages(Flux<Batch> batches) {
    // The handshake is answered when the watch has begun, because writes of the client after that
    // must be events.
    return ServerResponse.ok().build((exchange, _) -> batches.switchOnFirst((_, begun) -> sockets
        .handleRequest(exchange, session -> send(session, begun)), false).then());
  }

  private static Mono<Void> send(WebSocketSession session, Flux<Batch> batches) {
    // The client's messages are read to the end. Cancelling would close the connection without a
    // status.
    var gone = Sinks.<Void>empty();
    var reading = session.receive().doFinally(_ -> gone.tryEmitEmpty()).then();
    var messages = batches.takeUntilOther(gone.asMono())
        .concatMap(batch -> Flux.fromIterable(batch.take())
            .map(event -> new WebSocketMessage(WebSocketMessage.Type.TEXT,
                batch.message(event, session.bufferFactory()))),
            1);
    return Mono.when(reading, session.send(messages).then(session.close(CloseStatus.NORMAL)));
  }

  private Flux<Batch> batches(WatchCache cache, RequestedResource target, ServerRequest request) {
    var query = new QueryParameters(request);
    var form = reads.form(target, query);
    var watch = new CacheWatcher.Request(query.read().watch(), query.selection(target),
        query.yes("allowWatchBookmarks") ? Bookmarks.WANTED : Bookmarks.UNWANTED,
        query.timeout().orElseGet(this::usualTimeout));
    return Flux.create(sink -> {
      var batches = new WatchBatches(sink, form.events());
      var session = cache.watch(watch,
          hooks.events(request.exchange().getRequest(), batches));
      open.add(session);
      if (closed) {
        session.cancel();
      }
      sink.onDispose(() -> {
        open.remove(session);
        session.cancel();
      });
    }, OverflowStrategy.BUFFER);
  }

  private Duration usualTimeout() {
    return Duration.ofMinutes(MIN_MINUTES)
        .plusSeconds(random.nextInt((MAX_MINUTES - MIN_MINUTES) * 60));
  }
}
