package dev.activator.bench.soak;

import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * A pod with a queue-proxy, in both versions of HTTP, on an address of its own. Responses repeat the id of the
 * request, and what they hold follows from the request: a caller notices a response that is not its own.
 */
final class SoakPod {
  /** Names a request, in both directions. */
  static final String ID = "x-soak-id";
  /** Of every pod with a queue-proxy, as Knative has it. */
  private static final int TLS_PORT = 8112;
  private static final int PART_BYTES = 16 << 10;

  private final String ip;
  private final int port;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE,
      true);
  private final Set<String> running = ConcurrentHashMap.newKeySet();
  private final List<DisposableServer> servers = new ArrayList<>();

  /** @param tls of what its TLS port speaks, besides plain HTTP on the other; null for none */
  SoakPod(LoopResources loops, String ip, int port, @Nullable SslContext tls) {
    this.ip = ip;
    this.port = port;
    servers.add(at(loops, port).protocol(HttpProtocol.H2C, HttpProtocol.HTTP11).bindNow());
    if (tls != null) {
      servers.add(at(loops, TLS_PORT).protocol(HttpProtocol.H2, HttpProtocol.HTTP11)
          .secure(spec -> spec.sslContext(tls)).bindNow());
    }
  }

  private HttpServer at(LoopResources loops, int at) {
    return HttpServer.create().runOn(loops).host(ip).port(at)
        .option(ChannelOption.SO_REUSEADDR, true).handle(this::handle)
        .doOnChannelInit((_, channel, _) -> connections.add(channel));
  }

  String ip() {
    return ip;
  }

  int port() {
    return port;
  }

  /** Requests that have no whole response yet, by their ids. */
  Set<String> running() {
    return running;
  }

  /** As if the process was killed: resets all connections. */
  void kill() {
    servers.forEach(server -> server.channel().close().awaitUninterruptibly());
    for (var connection : connections) {
      connection.config().setOption(ChannelOption.SO_LINGER, 0);
      connection.close();
    }
  }

  /** Ends it when it has nothing to do any more. */
  void close() {
    servers.forEach(server -> server.channel().close().awaitUninterruptibly());
    connections.close();
  }

  private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
    if (request.requestHeaders().contains("K-Network-Probe")) {
      return response.header("content-length", "5").sendString(Mono.just("queue"));
    }
    var id = request.requestHeaders().get(ID, "");
    running.add(id);
    response.header(ID, id);
    var words = request.uri().split("/");
    var sent = switch (words[1]) {
      case "bytes" -> response.header("content-length", words[2])
          .sendByteArray(parts(Integer.parseInt(words[2])));
      case "delay" -> request.receive().then()
          .then(Mono.delay(Duration.ofMillis(Long.parseLong(words[2]))))
          .then(Mono.from(text(response, id)));
      case "stream" -> response.header("content-type", "application/grpc")
          .header("trailer", "grpc-status").trailerHeaders(end -> end.set("grpc-status", "0"))
          .send(request.receive().retain(), _ -> true);
      case "websocket" -> response.sendWebsocket((in, out) -> out.send(in.receive().retain()));
      default -> request.receive().aggregate().asByteArray().defaultIfEmpty(new byte[0])
          .flatMap(body -> Mono.from(response.header("content-length", "" + body.length)
              .sendByteArray(Mono.just(body))));
    };
    return Flux.from(sent).doFinally(_ -> running.remove(id));
  }

  private static Publisher<Void> text(HttpServerResponse response, String text) {
    return response.header("content-length", "" + text.length()).sendString(Mono.just(text));
  }

  private static Flux<byte[]> parts(int bytes) {
    return Flux.range(0, (bytes + PART_BYTES - 1) / PART_BYTES)
        .map(part -> new byte[Math.min(PART_BYTES, bytes - part * PART_BYTES)]);
  }
}
