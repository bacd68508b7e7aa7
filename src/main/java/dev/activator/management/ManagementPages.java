package dev.activator.management;

import reactor.core.publisher.Mono;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.MediaType;
import java.nio.charset.StandardCharsets;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;

/**
 * Pages for people, beside metrics and health. An extension serves them; {@link #NONE} where none does.
 *
 * <p><b>Threads.</b> Any.
 */
public interface ManagementPages {
  String HEALTH = "/actuator/health";

  /** No pages. */
  ManagementPages NONE = new ManagementPages() {
    @Override
    public HttpHandler onMetricsPort(HttpHandler pages) {
      return healthOr(pages, (_, response) -> {
        response.setStatusCode(HttpStatus.NOT_FOUND);
        return response.setComplete();
      });
    }

    @Override
    public int port() {
      return 0;
    }
  };

  /**
   * The handler for those pages that are on the port of metrics, which always has health.
   *
   * @param pages serves all pages
   */
  HttpHandler onMetricsPort(HttpHandler pages);

  /** The port of the pages; 0 if there are none. */
  int port();

  /** A handler of health, which leaves all other paths to another. */
  static HttpHandler healthOr(HttpHandler health, HttpHandler others) {
    return (request, response) -> {
      var path = request.getPath().value();
      return path.equals(HEALTH) || path.startsWith(HEALTH + "/")
          ? health.handle(request, response)
          : others.handle(request, response);
    };
  }

  /** Answers with a sentence, for the filters in front of Spring's pages. */
  static Mono<Void> text(ServerHttpResponse response, String sentence) {
    response.getHeaders().setContentType(MediaType.TEXT_PLAIN);
    response.getHeaders().set("X-Content-Type-Options", "nosniff");
    var body = (sentence + "\n").getBytes(StandardCharsets.UTF_8);
    return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
  }
}
