package dev.activator.embedded.api.http;

import dev.activator.embedded.api.policy.LoopbackNames;
import org.springframework.web.reactive.function.server.HandlerFilterFunction;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/**
 * Keeps out web pages that a browser on this machine shows: what is applied here runs as a process.
 * A page that had its own name point here is known by its Host, any other by its Origin.
 */
final class CallerGuard implements HandlerFilterFunction<ServerResponse, ServerResponse> {
  @Override
  public Mono<ServerResponse> filter(ServerRequest request, HandlerFunction<ServerResponse> next) {
    var headers = request.headers();
    var hosts = headers.header("Host");
    if (hosts.size() != 1 || !LoopbackNames.isHost(hosts.getFirst())) {
      return Mono.error(
          Refusals.notFromHere("the Host header says \"" + String.join(", ", hosts) + "\""));
    }
    for (var origin : headers.header("Origin")) {
      if (!LoopbackNames.isOrigin(origin)) {
        return Mono.error(Refusals.notFromHere("the Origin header says \"" + origin + "\""));
      }
    }
    return next.handle(request);
  }
}
