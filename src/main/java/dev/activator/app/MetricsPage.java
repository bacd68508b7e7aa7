package dev.activator.app;

import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Answers {@code GET /metrics}, and has another handler answer all else, which is made when it is first needed:
 * an activator that is only scraped holds a thousand classes less.
 */
final class MetricsPage implements HttpHandler {
  private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";
  private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private final BooleanSupplier isScraped;
  private final UnaryOperator<String> scrape;
  private final Supplier<HttpHandler> makeOthers;
  private volatile @Nullable HttpHandler others;

  /**
   * @param isScraped whether the ConfigMap enables scraping; if not, the answer is 404
   * @param scrape from a content type to the metrics
   */
  MetricsPage(BooleanSupplier isScraped, UnaryOperator<String> scrape,
      Supplier<HttpHandler> makeOthers) {
    this.isScraped = isScraped;
    this.scrape = scrape;
    this.makeOthers = makeOthers;
  }

  @Override
  public Mono<Void> handle(ServerHttpRequest request, ServerHttpResponse response) {
    if (!request.getMethod().equals(HttpMethod.GET)
        || !request.getPath().value().equals("/metrics")) {
      var known = others;
      return known == null
          ? made().flatMap(fresh -> fresh.handle(request, response))
          : known.handle(request, response);
    }
    if (!isScraped.getAsBoolean()) {
      response.setStatusCode(HttpStatus.NOT_FOUND);
      return response.setComplete();
    }
    var type = request.getHeaders().getOrEmpty(HttpHeaders.ACCEPT).stream()
        .anyMatch(each -> each.contains("application/openmetrics-text")) ? OPEN_METRICS : PLAIN;
    // Thousands of series take time, and this port's loop also answers probes of health.
    return Mono.fromCallable(() -> scrape.apply(type).getBytes(StandardCharsets.UTF_8))
        .subscribeOn(Schedulers.boundedElastic()).flatMap(text -> {
          response.getHeaders().set(HttpHeaders.CONTENT_TYPE, type);
          response.getHeaders().setContentLength(text.length);
          return response.writeWith(Mono.just(response.bufferFactory().wrap(text)));
        });
  }

  /** Takes some hundred milliseconds, in which this port's loop would answer nobody. */
  private Mono<HttpHandler> made() {
    return Mono.fromCallable(this::make).subscribeOn(Schedulers.boundedElastic());
  }

  private synchronized HttpHandler make() {
    var known = others;
    if (known == null) {
      known = makeOthers.get();
      others = known;
    }
    return known;
  }
}
