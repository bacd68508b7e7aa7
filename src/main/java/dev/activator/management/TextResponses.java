package dev.activator.management;

import java.nio.charset.StandardCharsets;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;

/** Creates text responses for the filters in front of Spring's pages. */
public final class TextResponses {
  private TextResponses() {}

  public static Mono<Void> text(ServerHttpResponse response, String sentence) {
    response.getHeaders().setContentType(MediaType.TEXT_PLAIN);
    response.getHeaders().set("X-Content-Type-Options", "nosniff");
    var body = (sentence + "\n").getBytes(StandardCharsets.UTF_8);
    return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
  }
}
