package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.CacheWatcher;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.Kind;
import java.util.function.Consumer;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.netty.http.server.HttpServer;

/** Hooks by which tests inject faults into the embedded API server, or give it TLS. */
public interface ApiServerTestHooks {
  ApiServerTestHooks NONE = new ApiServerTestHooks() {
  };

  default HttpServer server(HttpServer plain) {
    return plain;
  }

  default HttpHandler requests(HttpHandler handler) {
    return handler;
  }

  /** Wraps the outlet of a watch. Called for each watch. */
  default CacheWatcher.Outlet events(ServerHttpRequest request, CacheWatcher.Outlet outlet) {
    return outlet;
  }

  default Consumer<ApiStoreChange> commits(Kind kind, Consumer<ApiStoreChange> cache) {
    return cache;
  }
}
