package dev.activator.app;

import dev.activator.observability.Observability;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The meters, for Prometheus; where the ConfigMap does not say that it may fetch them, there is no
 * such page.
 */
public record MetricsPage(Observability observability, PrometheusMeterRegistry registry) {
  private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";
  private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

  public Mono<ServerResponse> show(ServerRequest request) {
    if (!observability.isScraped()) {
      return ServerResponse.notFound().build();
    }
    String type = wantsOpenMetrics(request.headers().header(HttpHeaders.ACCEPT))
        ? OPEN_METRICS
        : PLAIN;
    // Thousands of series take their time, and the loop of this port has the kubelet's probes too.
    return Mono.fromCallable(() -> registry.scrape(type)).subscribeOn(Schedulers.boundedElastic())
        .flatMap(text -> ServerResponse.ok().header(HttpHeaders.CONTENT_TYPE, type)
            .bodyValue(text));
  }

  private static boolean wantsOpenMetrics(List<String> accepted) {
    return accepted.stream().anyMatch(each -> each.contains("application/openmetrics-text"));
  }
}
