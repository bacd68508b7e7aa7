package dev.activator.proxy.exchange;

import dev.activator.proxy.codec.NettyFields;
import dev.activator.proxy.policy.field.RequestHeaders;
import dev.activator.proxy.policy.field.Version;
import dev.activator.proxy.route.Route;
import dev.activator.proxy.route.Router;
import io.netty.handler.codec.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/**
 * Where all requests of one event loop come in, in either version of HTTP: each is answered at once, or
 * has an exchange.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
public final class Entrance {
  private final Worker worker;
  private final Router router;
  private final Admitter admitter;

  public Entrance(Worker worker, Router router, Admitter admitter) {
    this.worker = worker;
    this.router = router;
    this.admitter = admitter;
  }

  public Worker worker() {
    return worker;
  }

  /** Takes a request, which may be malformed; null if it was answered here and is over. */
  public @Nullable Exchange take(HttpRequest request, Version version, Caller caller,
      Downstream downstream) {
    return switch (router.route(request, version)) {
      case Route.Here(var answer) -> {
        downstream.answer(answer);
        downstream.ended();
        yield null;
      }
      case Route.Refused(var failure) -> {
        HttpPassage.refused(failure, worker, caller, request);
        downstream.answer(failure);
        downstream.ended();
        yield null;
      }
      case Route.To to -> {
        var passage = HttpPassage.to(to, worker, caller, request);
        request.setUri(to.path());
        RequestHeaders.rewrite(new NettyFields(request.headers()), version, to.host(),
            caller.address());
        yield new Exchange(worker, passage, downstream, to, request);
      }
    };
  }

  /** Begins an exchange that was made here, once whoever asked for it can hear of its end. */
  public void start(Exchange exchange) {
    exchange.start(admitter);
  }
}
