package dev.activator.embedded.api.http;

import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.reactive.function.server.ServerRequest;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;

/**
 * The thread of a request's connection. Responses are written there and nowhere else: when one is
 * completed on another thread, the client may send its next request before the server has noticed
 * that the last is answered, and Reactor Netty then forgets to answer the next.
 */
final class ConnectionThread {
  private ConnectionThread() {}

  static Scheduler of(ServerRequest request) {
    HttpServerRequest connected = ServerHttpRequestDecorator
        .getNativeRequest(request.exchange().getRequest());
    var found = new Scheduler[1];
    connected.withConnection(
        connection -> found[0] = Schedulers.fromExecutor(connection.channel().eventLoop()));
    return found[0];
  }
}
