package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.Watch;
import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.Kind;
import java.util.function.Consumer;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.netty.http.server.HttpServer;

/** The hooks by which tests inject faults and add TLS. */
public interface ServerHooks {
  ServerHooks NONE = new ServerHooks() {
  };

  default HttpServer server(HttpServer plain) {
    return plain;
  }

  default HttpHandler requests(HttpHandler handler) {
    return handler;
  }

  /** Called for each watch. */
  default Watch.Outlet events(ServerHttpRequest request, Watch.Outlet outlet) {
    return outlet;
  }

  default Consumer<ApiEvent> commits(Kind kind, Consumer<ApiEvent> cache) {
    return cache;
  }
}
