package dev.activator.management;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Answers the requests that come every few seconds, {@code GET /metrics} and the liveness probe.
 * Another handler answers all others.
 */
public final class MetricsAndLivenessHandler implements HttpHandler {
  private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";
  private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private static final String LIVENESS = "/actuator/health/liveness";
  /** The content type that Spring Boot uses. */
  private static final String HEALTH = "application/vnd.spring-boot.actuator.v3+json";
  private static final byte[] ALIVE = "{\"status\":\"UP\"}".getBytes(StandardCharsets.UTF_8);

  private static final Pattern GZIP = Pattern
      .compile("(?i)(x-)?gzip(\\s*;\\s*q=(?!0(\\.0*)?$).*)?");

  /** Includes HEAD, because the server leaves out the body of its response. */
  private static final Set<HttpMethod> READ = Set.of(HttpMethod.GET, HttpMethod.HEAD);

  private final BooleanSupplier isScraped;
  private final UnaryOperator<String> scrape;
  private final HttpHandler others;

  /**
   * @param isScraped whether the ConfigMap enables scraping; if not, the answer is 404
   * @param scrape returns the metrics for a content type
   */
  public MetricsAndLivenessHandler(BooleanSupplier isScraped, UnaryOperator<String> scrape,
      HttpHandler others) {
    this.isScraped = isScraped;
    this.scrape = scrape;
    this.others = others;
  }

  @Override
  public Mono<Void> handle(ServerHttpRequest request, ServerHttpResponse response) {
    var path = READ.contains(request.getMethod()) ? request.getPath().value() : "";
    return switch (path) {
      case "/metrics" -> metrics(request, response);
      // The process is alive if it answers.
      case LIVENESS -> write(response, HEALTH, ALIVE);
      default -> others.handle(request, response);
    };
  }

  private Mono<Void> metrics(ServerHttpRequest request, ServerHttpResponse response) {
    if (!isScraped.getAsBoolean()) {
      response.setStatusCode(HttpStatus.NOT_FOUND);
      return response.setComplete();
    }
    var type = request.getHeaders().getOrEmpty(HttpHeaders.ACCEPT).stream()
        .anyMatch(each -> each.contains("application/openmetrics-text")) ? OPEN_METRICS : PLAIN;
    // Runs on another thread: thousands of series take time, and this port's loop also answers the
    // probe.
    boolean zips = acceptsGzip(request.getHeaders());
    return Mono.fromCallable(() -> {
      var text = scrape.apply(type).getBytes(StandardCharsets.UTF_8);
      return zips ? zipped(text) : text;
    }).subscribeOn(Schedulers.boundedElastic()).flatMap(text -> {
      response.getHeaders().set(HttpHeaders.VARY, "Accept-Encoding");
      if (zips) {
        response.getHeaders().set(HttpHeaders.CONTENT_ENCODING, "gzip");
      }
      return write(response, type, text);
    });
  }

  /** Whether the client accepts gzip: it is listed, and its weight is not 0. */
  static boolean acceptsGzip(HttpHeaders headers) {
    return headers.getValuesAsList(HttpHeaders.ACCEPT_ENCODING).stream()
        .anyMatch(each -> GZIP.matcher(each.strip()).matches());
  }

  private static byte[] zipped(byte[] text) throws IOException {
    var bytes = new ByteArrayOutputStream(text.length / 8);
    try (var zip = new GZIPOutputStream(bytes)) {
      zip.write(text);
    }
    return bytes.toByteArray();
  }

  private static Mono<Void> write(ServerHttpResponse response, String type, byte[] text) {
    response.getHeaders().set(HttpHeaders.CONTENT_TYPE, type);
    response.getHeaders().setContentLength(text.length);
    return response.writeWith(Mono.just(response.bufferFactory().wrap(text)));
  }
}
