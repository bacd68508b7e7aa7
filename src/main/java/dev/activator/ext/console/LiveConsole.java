package dev.activator.ext.console;

import dev.activator.ext.console.ConsoleHomePage.ActivatorTotals;
import dev.activator.platform.RevisionActions;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.POST;
import static org.springframework.web.reactive.function.server.RequestPredicates.methods;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import org.jspecify.annotations.Nullable;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PeerSnapshot;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.ClassPathResource;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.server.RequestPredicate;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The console at {@code /console}. It renders the pages, and sends the changed parts to each
 * connected viewer once a second. A slow viewer misses updates that it does not read in time.
 *
 * <p><b>Errors.</b> 503 to more than {@link #MAX_VIEWERS} at once, and after closing.
 */
public final class LiveConsole implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LiveConsole.class);
  static final int MAX_VIEWERS = 32;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final MediaType HTML = new MediaType("text", "html", UTF_8);
  private static final MediaType SCRIPT = new MediaType("text", "javascript", UTF_8);
  private static final MediaType ICON = new MediaType("image", "svg+xml");
  private static final MediaType STYLES = new MediaType("text", "css", UTF_8);
  /** A content security policy that forbids content from other origins, and inline scripts. */
  private static final String POLICY = "default-src 'self'; base-uri 'none'; form-action 'self';"
      + " frame-ancestors 'none'";

  private final RevisionInspector inspector;
  private final Sources sources;
  private final @Nullable RevisionActions actions;
  private final ConsoleLinks links;
  private final Flux<?> ticks;
  private final Flux<Optional<ConsoleHomePage.Content>> list;
  private final Viewers viewers = new Viewers(MAX_VIEWERS);
  private final Sinks.Empty<Void> closing = Sinks.empty();

  /**
   * What the pages show beside the state of requests.
   *
   * @param unready returns a sentence why the activator is not ready; empty if it is
   */
  public record Sources(RevisionCardData.Source cards, Supplier<List<ColdStart>> coldStarts,
      Supplier<String> unready, PeerSnapshot.Source peers, Alerts alerts) {}

  /** @param actions null if the console is read-only */
  public LiveConsole(RevisionInspector inspector, Sources sources, ConsoleLinks links,
      @Nullable RevisionActions actions, Flux<?> ticks) {
    this.sources = sources;
    this.links = links;
    this.inspector = inspector;
    this.actions = actions;
    this.ticks = ticks;
    // Read once for all viewers, independent of their filters.
    this.list = ticks.onBackpressureDrop().concatMap(_ -> content(), 1).publish().refCount();
  }

  public RouterFunction<ServerResponse> routes() {
    var pages = route(read("/"), _ -> seeOther("/console"))
        .andRoute(read("/console").or(read("/console/")), this::listPage)
        .andRoute(read("/console/console.js"), _ -> file("console.js", SCRIPT))
        .andRoute(read("/console/console.css"), _ -> file("console.css", STYLES))
        .andRoute(read("/console/icon.svg"), _ -> file("icon.svg", ICON))
        .andRoute(GET("/console/updates"), this::updates)
        .andRoute(read("/console/{namespace}/{name}"), request -> detailPage(id(request)));
    return actions == null
        ? pages
        : pages.andRoute(POST("/console/{namespace}/{name}/{action}"),
            request -> act(actions, request));
  }

  /** Matches GET and HEAD, because many users try {@code curl -I} first. */
  private static RequestPredicate read(String path) {
    return methods(HttpMethod.GET, HttpMethod.HEAD).and(path(path));
  }

  private Mono<ServerResponse> detailPage(RevisionId id) {
    return page(HttpStatus.OK, id.name() + " – Activator", id.toString(), ServiceListQuery.ALL,
        orTrouble(knownParts(id))).switchIfEmpty(Mono.defer(() -> ofService(id)));
  }

  /**
   * The page for the name of a Service, as the list shows it: that of the revision that gets the
   * Service's requests.
   */
  private Mono<ServerResponse> ofService(RevisionId id) {
    return content().flatMap(now -> now.stream().flatMap(content -> content.rows().stream())
        .filter(row -> row.service().equals(id)).findFirst()
        .map(row -> seeOther("/console/" + row.main().id()))
        .orElseGet(() -> page(HttpStatus.NOT_FOUND, id.name() + " – Activator", id.toString(),
            ServiceListQuery.ALL, Mono.just(RevisionPage.unknown(id)))));
  }

  private static RevisionId id(ServerRequest request) {
    return new RevisionId(request.pathVariable("namespace"), request.pathVariable("name"));
  }

  private static Mono<ServerResponse> seeOther(String path) {
    return ServerResponse.seeOther(URI.create(path)).build();
  }

  private static Mono<ServerResponse> act(RevisionActions actions, ServerRequest request) {
    var id = id(request);
    switch (request.pathVariable("action")) {
      case "request" -> actions.sendRequest(id);
      case "zero" -> actions.scaleToZero(id);
      case "restart" -> actions.restart(id);
      default -> {
        return ServerResponse.notFound().build();
      }
    }
    return seeOther("/console/" + id);
  }

  private Mono<ServerResponse> listPage(ServerRequest request) {
    var query = ServiceListQuery.parse(request.queryParams().toSingleValueMap());
    return page(HttpStatus.OK, "Activator", "", query, listParts(query));
  }

  private static Mono<ServerResponse> page(HttpStatus status, String title, String revision,
      ServiceListQuery query, Mono<SequencedMap<String, String>> parts) {
    return parts.flatMap(all -> ServerResponse.status(status).contentType(HTML)
        .cacheControl(CacheControl.noStore()).header("Content-Security-Policy", POLICY)
        // With no referrer, the request of a button would have "Origin: null", like that of a
        // foreign page.
        .header("Referrer-Policy", "same-origin").header("X-Content-Type-Options", "nosniff")
        .bodyValue(ConsoleHtml.shell(title, revision, query, all)));
  }

  private static Mono<ServerResponse> file(String name, MediaType type) {
    return ServerResponse.ok().contentType(type).cacheControl(CacheControl.noCache())
        .header("X-Content-Type-Options", "nosniff")
        .body(BodyInserters.fromResource(new ClassPathResource("console/" + name)));
  }

  private Mono<SequencedMap<String, String>> listParts(ServiceListQuery query) {
    return content().map(now -> parts(now, query));
  }

  private static SequencedMap<String, String> parts(Optional<ConsoleHomePage.Content> now,
      ServiceListQuery query) {
    return now.map(content -> ConsoleHomePage.of(content, query)).orElseGet(LiveConsole::trouble);
  }

  /** The content of the list; empty if an event loop did not answer. */
  private Mono<Optional<ConsoleHomePage.Content>> content() {
    return Mono.fromFuture(inspector::everything).map(all -> {
      // The answers are in the next content.
      sources.peers.requestLoads();
      var rates = sources.cards.requestHistory().rates();
      var totals = ActivatorTotals.of(
          all.revisions().stream().map(one -> one.queue().now()).toList(), rates,
          sources.cards.hours().errors(), sources.peers.views());
      var overview = all.overview();
      return new ConsoleHomePage.Content(sources.unready.get(), overview.summary(),
          !overview.autoscaler().connected() || !overview.kubernetes().problems().isEmpty(), totals,
          sources.alerts.all(),
          ServiceRow.of(all.revisions().stream().map(sources.cards::of).toList(), rates),
          sources.coldStarts.get(), links);
    }).map(Optional::of).timeout(TIMEOUT).onErrorResume(failure -> {
      log.debug("The console could not be read", failure);
      return Mono.just(Optional.empty());
    });
  }

  private Mono<SequencedMap<String, String>> detailParts(RevisionId id) {
    return knownParts(id).switchIfEmpty(Mono.fromSupplier(() -> RevisionPage.unknown(id)));
  }

  /** The parts of a revision's page; empty if there is no such revision. */
  private Mono<SequencedMap<String, String>> knownParts(RevisionId id) {
    return Mono.fromFuture(() -> inspector.snapshot(id)).flatMap(this::detailParts);
  }

  private Mono<SequencedMap<String, String>> detailParts(RevisionSnapshot now) {
    var details = sources.cards.details();
    return Mono.fromFuture(() -> details.settings(now.revision()).thenCombine(
        details.events(now.revision()),
        (settings, events) -> RevisionPage.of(sources.unready.get(), sources.cards.of(now), links,
            sources.cards.hours().now(),
            settings, events, details.log(now.revision()), sources.coldStarts.get(), actions)));
  }

  private static Mono<SequencedMap<String, String>> orTrouble(
      Mono<SequencedMap<String, String>> parts) {
    return parts.timeout(TIMEOUT).onErrorResume(_ -> Mono.fromSupplier(LiveConsole::trouble));
  }

  private static SequencedMap<String, String> trouble() {
    var trouble = new LinkedHashMap<String, String>();
    trouble.put("trouble", "<section id=\"trouble\" class=\"wide\" role=\"alert\">"
        + "<p class=\"banner\">An event loop has not answered.</p></section>");
    return trouble;
  }

  private Mono<ServerResponse> updates(ServerRequest request) {
    if (!viewers.enter()) {
      return ServerResponse.status(HttpStatus.SERVICE_UNAVAILABLE).build();
    }
    var revision = request.queryParam("revision").filter(name -> name.contains("/")).orElse("");
    return ServerResponse.ok().cacheControl(CacheControl.noStore()).body(BodyInserters
        .fromServerSentEvents(events(revision, ServiceListQuery.parse(
            request.queryParams().toSingleValueMap())).doFinally(_ -> viewers.leave())));
  }

  /**
   * @param revision empty for the list
   * @param query the query of the list
   */
  Flux<ServerSentEvent<Object>> events(String revision, ServiceListQuery query) {
    int slash = revision.indexOf('/');
    var pages = revision.isEmpty()
        ? Flux.concat(listParts(query), list.map(now -> parts(now, query)))
        : Flux.concat(Flux.just(0), ticks).onBackpressureDrop()
            .concatMap(_ -> orTrouble(detailParts(
                new RevisionId(revision.substring(0, slash), revision.substring(slash + 1)))), 1);
    return pages.onBackpressureLatest().scan(Update.NONE, Update::next).skip(1)
        .map(update -> ServerSentEvent.<Object>builder(update.change()).event("parts").build())
        .takeUntilOther(closing.asMono());
  }

  /**
   * @param order the ids of all parts
   * @param changed the parts that are new or differ
   */
  private record Change(List<String> order, Map<String, String> changed) {}

  private record Update(SequencedMap<String, String> all, Change change) {
    static final Update NONE = new Update(new LinkedHashMap<>(), new Change(List.of(), Map.of()));

    Update next(SequencedMap<String, String> now) {
      var changed = new LinkedHashMap<String, String>();
      now.forEach((id, html) -> {
        if (!html.equals(all.get(id))) {
          changed.put(id, html);
        }
      });
      return new Update(now, new Change(List.copyOf(now.keySet()), changed));
    }
  }

  /** Ends all streams, so that a shutdown does not wait for viewers. */
  @Override
  public void close() {
    viewers.close();
    closing.tryEmitEmpty();
  }

  static final class Viewers {
    private final Semaphore places;
    private volatile boolean closed;

    Viewers(int max) {
      this.places = new Semaphore(max);
    }

    /** Whether there is room for another viewer. If so, {@link #leave} must follow. */
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
