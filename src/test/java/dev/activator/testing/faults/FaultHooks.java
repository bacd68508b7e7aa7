package dev.activator.testing.faults;

import dev.activator.embedded.api.cache.FeedFaults;
import dev.activator.embedded.api.cache.CacheWatcher;
import dev.activator.embedded.api.http.ApiServerTestHooks;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.Kind;
import io.netty.channel.group.ChannelGroup;
import java.util.function.Consumer;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import reactor.netty.http.server.HttpServer;

/**
 * Puts faults between the parts of a server.
 *
 * @param connections gets the server's connections
 */
public record FaultHooks(Faults faults, FeedFaults feed, ChannelGroup connections)
    implements ApiServerTestHooks {
  @Override
  public HttpServer server(HttpServer plain) {
    return plain.doOnChannelInit((_, channel, _) -> connections.add(channel));
  }

  @Override
  public HttpHandler requests(HttpHandler handler) {
    return new FaultyHandler(handler, faults);
  }

  @Override
  public CacheWatcher.Outlet events(ServerHttpRequest request, CacheWatcher.Outlet outlet) {
    var at = request;
    while (at instanceof ServerHttpRequestDecorator decorated) {
      if (decorated instanceof TappedRequest tapped) {
        return faults.watched(tapped.call(), tapped.hits(), outlet);
      }
      at = decorated.getDelegate();
    }
    return outlet;
  }

  @Override
  public Consumer<ApiStoreChange> commits(Kind kind, Consumer<ApiStoreChange> cache) {
    return feed.over(kind, cache);
  }
}
