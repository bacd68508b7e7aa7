package dev.activator.management;

import dev.activator.config.AllowedHosts;
import java.util.Objects;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;

/** A filter that refuses requests of foreign web pages on the management port. */
public final class OriginCheck {
  private static final Logger log = LoggerFactory.getLogger(OriginCheck.class);

  private static final int HTTP = 80;

  private final String bindAddress;
  private final ToIntFunction<ServerHttpRequest> port;

  private OriginCheck(String bindAddress, ToIntFunction<ServerHttpRequest> port) {
    this.bindAddress = bindAddress;
    this.port = port;
  }

  /** @param bindAddress empty for all interfaces */
  public OriginCheck(String bindAddress) {
    // The port varies, because MetricsServer may have a second one.
    this(bindAddress, request -> Objects.requireNonNull(request.getLocalAddress()).getPort());
  }

  /**
   * A check for a port that callers know by another number, as with {@code kubectl port-forward}.
   */
  public static OriginCheck forwarded(String bindAddress) {
    return new OriginCheck(bindAddress, OriginCheck::portOfHost);
  }

  private static int portOfHost(ServerHttpRequest request) {
    var host = request.getHeaders().getHost();
    return host == null || host.getPort() == 0 ? HTTP : host.getPort();
  }

  /** Calls the handler only if the request is not refused. */
  public HttpHandler around(HttpHandler handler) {
    return (request, response) -> {
      var refusal = refusal(request);
      return refusal == null ? handler.handle(request, response) : refuse(response, refusal);
    };
  }

  private @Nullable String refusal(ServerHttpRequest request) {
    var headers = request.getHeaders();
    var refusal = new AllowedHosts(bindAddress, port.applyAsInt(request)).refusal(
        headers.getValuesAsList(HttpHeaders.HOST), headers.getValuesAsList(HttpHeaders.ORIGIN));
    if (refusal != null) {
      log.debug("Refused a request for {}: {}", request.getPath(), refusal);
    }
    return refusal;
  }

  private static Mono<Void> refuse(ServerHttpResponse response, String refusal) {
    response.setStatusCode(HttpStatus.FORBIDDEN);
    return ManagementPages.text(response, refusal);
  }
}
