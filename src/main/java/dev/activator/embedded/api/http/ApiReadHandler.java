package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.cache.WatchCaches;
import dev.activator.embedded.api.cache.SortedObjects.CacheSnapshot;
import dev.activator.embedded.api.cache.WatchCache;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The handler of read requests: get, list and scale. */
final class ApiReadHandler {
  private final ApiStore store;
  private final WatchCaches caches;

  ApiReadHandler(ApiStore store, WatchCaches caches) {
    this.store = store;
    this.caches = caches;
  }

  /** Reads an object from the store, or from the cache if the client names a version. */
  Mono<ServerResponse> get(RequestedResource target, ServerRequest request) {
    var query = new QueryParameters(request);
    var form = form(target, query);
    var at = query.read().get();
    var found = at.isEmpty()
        ? Mono.justOrEmpty(store.find(target.kind(), target.namespace(), target.name()))
            .map(object -> WatchCacheObject.of(target.kind(), object))
        : snapshot(target.kind(), at.get())
            .mapNotNull(snapshot -> snapshot.objects().find(key(target)));
    return found.switchIfEmpty(Mono.defer(() -> ended(target, request)))
        .switchIfEmpty(Mono.error(() -> StatusException.notFound(target.kind(), target.name())))
        .flatMap(object -> ApiResponseWriter.json(200, form.object(object)));
  }

  /** A pod that is gone. Only {@code kubectl logs} gets it, which reads a pod before its log. */
  private Mono<WatchCacheObject> ended(RequestedResource target, ServerRequest request) {
    boolean reads = target.kind().equals(BuiltInKinds.POD)
        && "kubectl logs".equals(request.headers().firstHeader("Kubectl-Command"));
    return Mono.justOrEmpty(
        reads ? store.podLogs().ended(target.namespace(), target.name()) : null)
        .map(pod -> WatchCacheObject.of(target.kind(), pod));
  }

  Mono<WatchCache> cache(Kind kind) {
    return Mono.fromFuture(caches.of(kind).orElseThrow(StatusErrors::noSuchResource), true);
  }

  Mono<CacheSnapshot> snapshot(Kind kind, Freshness freshness) {
    return cache(kind).flatMap(cache -> Mono.fromFuture(() -> cache.read(freshness)))
        .publishOn(Schedulers.parallel());
  }

  Mono<ServerResponse> scale(RequestedResource target) {
    var object = store.find(target.kind(), target.namespace(), target.name());
    return object == null
        ? Mono.error(StatusException.notFound(target.kind(), target.name()))
        : ApiResponseWriter.ok(ScaleSubresourceHandler.of(target.kind(), object));
  }

  Mono<ServerResponse> list(RequestedResource target, ServerRequest request) {
    var query = new QueryParameters(request);
    var form = form(target, query);
    return page(target, query).flatMap(page -> ApiResponseWriter.json(200, form.list(page)));
  }

  ApiObjectEncoder form(RequestedResource target, QueryParameters query) {
    var kind = target.kind();
    return switch (query.shape()) {
      case PLAIN -> new FullObjectEncoder(kind);
      case METADATA -> new ApiObjectEncoder.OfMetadata(kind);
      case TABLE -> new TableEncoder(kind, store::now, query.include());
    };
  }

  private Mono<ListPage> page(RequestedResource target, QueryParameters query) {
    var selection = query.selection(target);
    var parameters = query.read();
    if (parameters.continuing()) {
      return next(target, query);
    }
    long limit = parameters.limit();
    return snapshot(target.kind(), parameters.list())
        .map(snapshot -> parameters.paged()
            ? ListPage.of(snapshot, selection, "", limit)
            : ListPage.all(snapshot, selection));
  }

  private Mono<ListPage> next(RequestedResource target, QueryParameters query) {
    query.read().checkContinued();
    var token = ListPage.ContinueToken.parse(query.text("continue"));
    var at = token.revision() < 0
        ? new Freshness.Newest()
        : new Freshness.Exactly(token.revision());
    long limit = query.read().limit() == 0 ? Long.MAX_VALUE : query.read().limit();
    var selection = query.selection(target);
    return snapshot(target.kind(), at)
        .map(snapshot -> ListPage.of(snapshot, selection, token.start(), limit))
        .onErrorMap(StatusException.class, gone -> gone.code() == 410 ? restart(token) : gone);
  }

  /** The failure if the state of a page is too old. Its token continues with the newest state. */
  private static StatusException restart(ListPage.ContinueToken token) {
    String message = "The provided continue parameter is too old to display a consistent list"
        + " result. You can start a new list without the continue parameter, or use the continue"
        + " token in this response to retrieve the remainder of the results.";
    return StatusException.expired(message, new ListPage.ContinueToken(-1, token.start()).text());
  }

  private static String key(RequestedResource target) {
    return ObjectMeta.key(target.namespace(), target.name());
  }
}
