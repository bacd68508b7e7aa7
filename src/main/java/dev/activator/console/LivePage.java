package dev.activator.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * {@code /console}: what happens now. Waiting requests and cold starts are read once a second for
 * all viewers together, and not while there are none; destinations are sent as they change. Nothing
 * waits for a slow viewer.
 *
 * <p>
 * <b>Errors.</b> 503 to more than {@link #MOST_VIEWERS} at once, and after closing.
 */
public final class LivePage implements AutoCloseable {
  static final int MOST_VIEWERS = 32;
  /** A viewer with more unread events is dropped. */
  static final int MOST_UNREAD = 64;
  private static final int MOST_COLD_STARTS = 20;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final MediaType SCRIPT = new MediaType("text", "javascript", UTF_8);
  private static final MediaType STYLES = new MediaType("text", "css", UTF_8);
  /** Loads nothing from elsewhere and runs no inline script. */
  private static final String POLICY = "default-src 'self'";

  private final RevisionBackendsManager backends;
  private final Flux<ServerSentEvent<Object>> shared;
  private final Viewers viewers = new Viewers(MOST_VIEWERS);
  private final Sinks.Empty<Void> closing = Sinks.empty();

  public LivePage(Inspector inspector, Supplier<List<ColdStart>> coldStarts,
      RevisionBackendsManager backends, Flux<?> ticks) {
    this.backends = backends;
    this.shared = ticks.onBackpressureDrop()
        .concatMap(_ -> Flux.concat(overview(inspector), starts(coldStarts)), 1).publish()
        .refCount();
  }

  private static Mono<ServerSentEvent<Object>> overview(Inspector inspector) {
    return Mono.fromFuture(inspector::overview).timeout(TIMEOUT).map(now -> event("overview", now))
        .onErrorResume(_ -> Mono.just(event("trouble",
            new ActivatorEndpoint.Message("An event loop has not answered."))));
  }

  private static Mono<ServerSentEvent<Object>> starts(Supplier<List<ColdStart>> coldStarts) {
    return Mono.fromSupplier(() -> event("cold-starts", coldStarts.get().stream()
        .limit(MOST_COLD_STARTS).map(ActivatorEndpoint.ColdStartReport::of).toList()));
  }

  private static ServerSentEvent<Object> event(String name, Object data) {
    return ServerSentEvent.<Object>builder(data).event(name).build();
  }

  public RouterFunction<ServerResponse> routes() {
    return route(GET("/console").or(GET("/console/")), _ -> file("index.html", MediaType.TEXT_HTML))
        .andRoute(GET("/console/console.js"), _ -> file("console.js", SCRIPT))
        .andRoute(GET("/console/console.css"), _ -> file("console.css", STYLES))
        .andRoute(GET("/console/updates"), _ -> updates());
  }

  private static Mono<ServerResponse> file(String name, MediaType type) {
    return ServerResponse.ok().contentType(type).cacheControl(CacheControl.noCache())
        .header("Content-Security-Policy", POLICY)
        .body(BodyInserters.fromResource(new ClassPathResource("console/" + name)));
  }

  private Mono<ServerResponse> updates() {
    if (!viewers.enter()) {
      return ServerResponse.status(HttpStatus.SERVICE_UNAVAILABLE).build();
    }
    return ServerResponse.ok().cacheControl(CacheControl.noStore())
        .body(BodyInserters.fromServerSentEvents(events().doFinally(_ -> viewers.leave())));
  }

  Flux<ServerSentEvent<Object>> events() {
    return Flux.merge(shared.onBackpressureBuffer(MOST_UNREAD), destinations())
        .onErrorComplete(Exceptions::isOverflow).takeUntilOther(closing.asMono());
  }

  private Flux<ServerSentEvent<Object>> destinations() {
    return BackendUpdates.of(backends)
        .map(now -> event("destinations", DestinationsReport.of(now)));
  }

  /** Ends all streams: a shutdown does not wait for viewers. */
  @Override
  public void close() {
    viewers.close();
    closing.tryEmitEmpty();
  }

  /** @param clusterIp where all requests go while pods cannot be addressed; null while they can */
  private record DestinationsReport(String revision, @Nullable String clusterIp,
      List<String> pods) {
    static DestinationsReport of(HealthyDestinations now) {
      var clusterIp = now.clusterIp();
      return new DestinationsReport(now.revision().toString(),
          clusterIp == null ? null : clusterIp.toString(),
          now.pods().all().stream().map(Destination::toString).toList());
    }
  }

  static final class Viewers {
    private final Semaphore places;
    private volatile boolean closed;

    Viewers(int most) {
      this.places = new Semaphore(most);
    }

    /** If true, the viewer must leave later. */
    boolean enter() {
      return !closed && places.tryAcquire();
    }

    void leave() {
      places.release();
    }

    void close() {
      closed = true;
    }
  }
}
