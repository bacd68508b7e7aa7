package dev.activator.app;

import dev.activator.config.AllowedHosts;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;

/** A filter that refuses requests of foreign web pages on the management port. */
public final class OriginCheck {
  private static final Logger log = LoggerFactory.getLogger(OriginCheck.class);

  private final String bindAddress;

  /** @param bindAddress empty for all interfaces */
  public OriginCheck(String bindAddress) {
    this.bindAddress = bindAddress;
  }

  /** Asks the handler only if the request is not refused. */
  HttpHandler around(HttpHandler handler) {
    return (request, response) -> {
      var refusal = refusal(request);
      return refusal == null ? handler.handle(request, response) : refuse(response, refusal);
    };
  }

  private @Nullable String refusal(ServerHttpRequest request) {
    var headers = request.getHeaders();
    // Not always the same: MetricsServer may have a second port.
    int port = Objects.requireNonNull(request.getLocalAddress()).getPort();
    var refusal = new AllowedHosts(bindAddress, port).refusal(
        headers.getValuesAsList(HttpHeaders.HOST), headers.getValuesAsList(HttpHeaders.ORIGIN));
    if (refusal != null) {
      log.debug("Refused a request for {}: {}", request.getPath(), refusal);
    }
    return refusal;
  }

  private static Mono<Void> refuse(ServerHttpResponse response, String refusal) {
    response.setStatusCode(HttpStatus.FORBIDDEN);
    response.getHeaders().setContentType(MediaType.TEXT_PLAIN);
    response.getHeaders().set("X-Content-Type-Options", "nosniff");
    var body = (refusal + "\n").getBytes(StandardCharsets.UTF_8);
    return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
  }
}
