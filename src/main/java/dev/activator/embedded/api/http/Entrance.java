package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.Json;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.function.BiFunction;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Where requests come in. Those whose path or query nobody could read are answered here, as all
 * others are, with a body that says what is wrong.
 */
public final class Entrance
    implements BiFunction<HttpServerRequest, HttpServerResponse, Mono<Void>> {
  private final ReactorHttpHandlerAdapter inside;

  public Entrance(HttpHandler inside) {
    this.inside = new ReactorHttpHandlerAdapter(inside);
  }

  @Override
  public Mono<Void> apply(HttpServerRequest request, HttpServerResponse response) {
    try {
      new URI(request.uri());
    } catch (URISyntaxException malformed) {
      var refused = ApiException.badRequest("the path or the query cannot be read: "
          + malformed.getReason() + " at character " + malformed.getIndex());
      return response.status(refused.code())
          .header("Content-Type", MediaType.APPLICATION_JSON_VALUE)
          .sendByteArray(Mono.just(Json.bytes(refused.status()))).then();
    }
    return inside.apply(request, response);
  }
}
