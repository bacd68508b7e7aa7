package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.Watch;
import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.Kind;
import java.util.function.Consumer;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.netty.http.server.HttpServer;

/** Where tests inject faults into a server, and give it TLS. By default nothing is changed. */
public interface ServerHooks {
  ServerHooks NONE = new ServerHooks() {
  };

  /** How the server listens. Called once. */
  default HttpServer server(HttpServer plain) {
    return plain;
  }

  /** What answers requests. Called once. */
  default HttpHandler requests(HttpHandler handler) {
    return handler;
  }

  /** What the events of one watch are sent to. Called for each watch. */
  default Watch.Outlet events(ServerHttpRequest request, Watch.Outlet outlet) {
    return outlet;
  }

  /** What brings commits to the cache of a kind. Called once for each kind. */
  default Consumer<ApiEvent> commits(Kind kind, Consumer<ApiEvent> cache) {
    return cache;
  }
}
