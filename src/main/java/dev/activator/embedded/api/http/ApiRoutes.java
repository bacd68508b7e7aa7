package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.Caches;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.KindRegistry;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/** Which request is answered by what. */
public final class ApiRoutes {
  private static final Set<String> HEALTH = Set.of("/healthz", "/livez", "/readyz");

  private final KindRegistry kinds;
  private final Discovery discovery;
  private final AggregatedDiscovery aggregated;
  private final OpenApi openApi;
  private final Reads reads;
  private final Watches watches;
  private final Writes writes;
  private final PatchWrites patches;

  public ApiRoutes(ApiStore store, Caches caches, RandomGenerator random, ServerHooks hooks) {
    this.kinds = store.kinds();
    this.discovery = new Discovery(kinds);
    this.aggregated = new AggregatedDiscovery(kinds);
    this.openApi = new OpenApi(kinds);
    this.reads = new Reads(store, caches);
    this.watches = new Watches(reads, random, hooks);
    this.writes = new Writes(store, reads);
    this.patches = new PatchWrites(store);
  }

  /** All of it, for a server to call. */
  public HttpHandler handler() {
    var strategies = HandlerStrategies.builder()
        .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(Bodies.LIMIT_BYTES)).build();
    var guard = new CallerGuard();
    var routes = RouterFunctions.route(RequestPredicates.all(),
        request -> Mono.defer(() -> guard.filter(request, this::answer))
            .onErrorResume(Answers::failed).publishOn(ConnectionThread.of(request)));
    return RouterFunctions.toHttpHandler(routes, strategies);
  }

  /** Ends all watches within this time; those that come later end as they begin. */
  public void close(Loop loop, Duration over) {
    watches.close(loop, over);
  }

  private Mono<ServerResponse> answer(ServerRequest request) {
    String path = request.path();
    if (HEALTH.contains(path)) {
      return Answers.text("ok");
    }
    if (!acceptsJson(request)) {
      return Mono.error(Refusals.notAcceptable());
    }
    var document = discovery.at(path).or(() -> openApi.at(path));
    if (document.isPresent()) {
      return request.method().equals(HttpMethod.GET)
          ? document(document.get(), request)
          : Mono.error(Refusals.method());
    }
    return onObjects(Target.of(kinds, path), request);
  }

  private Mono<ServerResponse> document(ObjectNode document, ServerRequest request) {
    return aggregated.at(request.path(), request)
        .map(answer -> Answers.typed(answer.type(), answer.document()))
        .orElseGet(() -> Answers.ok(document));
  }

  private Mono<ServerResponse> onObjects(Target target, ServerRequest request) {
    return target.collection() ? onCollection(target, request) : onObject(target, request);
  }

  private Mono<ServerResponse> onCollection(Target target, ServerRequest request) {
    boolean placed = !target.kind().namespaced() || !target.namespace().isEmpty();
    return switch (request.method().name()) {
      case "GET" -> new Query(request).yes("watch")
          ? watches.watch(target, request)
          : reads.list(target, request);
      case "POST" -> placed ? writes.create(target, request) : Mono.error(Refusals.method());
      case "DELETE" -> placed && Discovery.collective(target.kind())
          ? writes.deleteAll(target, request)
          : Mono.error(Refusals.method());
      default -> Mono.error(Refusals.method());
    };
  }

  private Mono<ServerResponse> onObject(Target target, ServerRequest request) {
    return switch (request.method().name()) {
      case "GET" -> target.subresource().equals("scale")
          ? reads.scale(target)
          : reads.get(target, request);
      case "PUT" -> writes.update(target, request);
      case "PATCH" -> patches.patch(target, request);
      case "DELETE" -> target.subresource().isEmpty()
          ? writes.delete(target, request)
          : Mono.error(Refusals.method());
      default -> Mono.error(Refusals.method());
    };
  }

  private static boolean acceptsJson(ServerRequest request) {
    var accept = request.headers().accept();
    return accept.isEmpty()
        || accept.stream().anyMatch(type -> type.isCompatibleWith(MediaType.APPLICATION_JSON));
  }
}
