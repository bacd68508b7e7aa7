package dev.activator.embedded.api.faults;

import dev.activator.embedded.api.cache.Outlet;
import dev.activator.embedded.api.cache.Watch;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import reactor.core.publisher.Flux;

/** What stands between a cache and the client of one watch. */
public interface WatchTap {
  /** Nothing does. */
  WatchTap NONE = new WatchTap() {
    @Override
    public Outlet over(Outlet outlet) {
      return outlet;
    }

    @Override
    public void opened(Watch watch) {
      // Nobody will hold it up.
    }

    @Override
    public Flux<byte[]> over(Flux<byte[]> events) {
      return events;
    }
  };

  /** The one that came with a request. */
  static WatchTap of(ServerHttpRequest request) {
    var at = request;
    while (at instanceof ServerHttpRequestDecorator decorated) {
      if (decorated instanceof TappedRequest tapped) {
        return tapped.tap();
      }
      at = decorated.getDelegate();
    }
    return NONE;
  }

  /** Where signals go on their way to this outlet. */
  Outlet over(Outlet outlet);

  /** The watch is on. */
  void opened(Watch watch);

  /** Encoded events, as they are to be sent; one of no bytes stands for none. */
  Flux<byte[]> over(Flux<byte[]> events);
}
