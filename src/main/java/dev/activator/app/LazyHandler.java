package dev.activator.app;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A handler that is made when it is first needed: until then an activator holds a thousand classes
 * less. It does not implement the type, of which Spring wants one bean only.
 */
final class LazyHandler {
  private final Supplier<HttpHandler> maker;
  private volatile @Nullable HttpHandler known;

  LazyHandler(Supplier<HttpHandler> maker) {
    this.maker = maker;
  }

  Mono<Void> handle(ServerHttpRequest request, ServerHttpResponse response) {
    var handler = known;
    return handler == null
        ? made().flatMap(fresh -> fresh.handle(request, response))
        : handler.handle(request, response);
  }

  /** Takes some hundred milliseconds, during which the port's loop would be blocked. */
  private Mono<HttpHandler> made() {
    return Mono.fromCallable(this::make).subscribeOn(Schedulers.boundedElastic());
  }

  private synchronized HttpHandler make() {
    var handler = known;
    if (handler == null) {
      handler = maker.get();
      known = handler;
    }
    return handler;
  }
}
