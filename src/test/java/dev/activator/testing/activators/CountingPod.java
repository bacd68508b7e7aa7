package dev.activator.testing.activators;

import io.netty.channel.ChannelOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * A pod without a queue-proxy, which counts how many requests it has at once. It goes on with a request
 * whose connection was closed. The path of a request says for how many milliseconds it runs.
 */
final class CountingPod {
  static final String WORK = "/busy/";
  /** Of a response: how long the pod had the request. */
  static final String SERVICE_NANOS = "x-service-nanos";

  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicInteger served = new AtomicInteger();
  private final String ip;
  private final DisposableServer server;

  CountingPod(LoopResources loops, String ip, int port) {
    this.ip = ip;
    this.server = HttpServer.create().runOn(loops).host(ip).port(port)
        .option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.TCP_NODELAY, true)
        .handle(this::handle).bindNow();
  }

  String ip() {
    return ip;
  }

  /** The highest number of requests that it had at once. */
  int most() {
    return most.get();
  }

  int served() {
    return served.get();
  }

  void close() {
    server.disposeNow();
  }

  private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
    if (!request.uri().startsWith(WORK)) {
      // A probe.
      return response.header("content-length", "0").send();
    }
    long begun = System.nanoTime();
    most.accumulateAndGet(running.incrementAndGet(), Math::max);
    var end = Mono.delay(Duration.ofMillis(Long.parseLong(request.uri().substring(WORK.length()))))
        .doOnNext(_ -> {
          // Before the response, whose end frees the permit.
          running.decrementAndGet();
          served.incrementAndGet();
        }).cache();
    end.subscribe();
    return end.flatMap(_ -> response.header("content-length", "0")
        .header(SERVICE_NANOS, Long.toString(System.nanoTime() - begun)).send().then());
  }
}
