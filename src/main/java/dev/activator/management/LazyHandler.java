package dev.activator.management;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A handler that is created at its first request, which saves loading about a thousand classes at the start. It does not implement {@link HttpHandler}, because Spring expects only one bean of that
 * type.
 */
public final class LazyHandler {
  private final Supplier<HttpHandler> maker;
  private volatile @Nullable HttpHandler created;

  public LazyHandler(Supplier<HttpHandler> maker) {
    this.maker = maker;
  }

  public Mono<Void> handle(ServerHttpRequest request, ServerHttpResponse response) {
    var handler = created;
    return handler == null
        ? create().flatMap(fresh -> fresh.handle(request, response))
        : handler.handle(request, response);
  }

  /**
   * Creates the handler on another thread, because this takes some hundred milliseconds and would
   * block the port's loop.
   */
  private Mono<HttpHandler> create() {
    return Mono.fromCallable(this::handler).subscribeOn(Schedulers.boundedElastic());
  }

  private synchronized HttpHandler handler() {
    var handler = created;
    if (handler == null) {
      handler = maker.get();
      created = handler;
    }
    return handler;
  }
}
