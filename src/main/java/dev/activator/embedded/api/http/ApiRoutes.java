package dev.activator.embedded.api.http;

import dev.activator.config.AllowedHosts;
import dev.activator.embedded.api.cache.WatchCaches;
import dev.activator.embedded.api.http.ApiResponseWriter.Warnings;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.KindRegistry;
import dev.activator.loop.Loop;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Routes a request of the API by its path and method to a handler. */
public final class ApiRoutes {
  private static final Set<String> HEALTH = Set.of("/healthz", "/livez", "/readyz");

  private static final Set<HttpMethod> WRITES = Set.of(HttpMethod.POST, HttpMethod.PUT,
      HttpMethod.PATCH);

  private static final List<String> ENDPOINTS_WARNING = List.of("v1 Endpoints is deprecated in"
      + " v1.33+; use discovery.k8s.io/v1 EndpointSlice");

  private final KindRegistry kinds;
  private final DiscoveryDocuments discovery;
  private final ApiReadHandler reads;
  private final PodLogHandler logs;
  private final ExecPortForwardHandler streams;
  private final ApiWatchHandler watches;
  private final ApiWriteHandler writes;
  private final ApiDeleteHandler deletes;
  private final ApiServerTestHooks hooks;

  public ApiRoutes(ApiStore store, WatchCaches caches, RandomGenerator random,
      ApiServerTestHooks hooks) {
    this.kinds = store.kinds();
    this.discovery = new DiscoveryDocuments(kinds);
    this.reads = new ApiReadHandler(store, caches);
    this.logs = new PodLogHandler(store);
    this.streams = new ExecPortForwardHandler(store);
    this.watches = new ApiWatchHandler(reads, random, hooks);
    this.writes = new ApiWriteHandler(store);
    this.deletes = new ApiDeleteHandler(store, reads);
    this.hooks = hooks;
  }

  public BiFunction<HttpServerRequest, HttpServerResponse, Mono<Void>> handler() {
    var strategies = HandlerStrategies.builder()
        .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(ApiBodyReader.LIMIT_BYTES))
        .build();
    var routes = RouterFunctions.route(RequestPredicates.all(),
        request -> Mono.defer(() -> answer(request)).onErrorResume(ApiResponseWriter::failed)
            .publishOn(connectionThread(request)));
    var http = new ReactorHttpHandlerAdapter(
        hooks.requests(RouterFunctions.toHttpHandler(routes, strategies)));
    return (request, response) -> {
      try {
        new URI(request.uri());
      } catch (URISyntaxException e) {
        return unreadable(e, response);
      }
      return http.apply(request, response);
    };
  }

  /** The response to a path that cannot be parsed: a Status, like all other failures. */
  private static Mono<Void> unreadable(URISyntaxException malformed, HttpServerResponse response) {
    var refused = StatusException.badRequest("the path or the query cannot be read: "
        + malformed.getReason() + " at character " + malformed.getIndex());
    return response.status(refused.code())
        .header("Content-Type", MediaType.APPLICATION_JSON_VALUE)
        .sendByteArray(Mono.just(Json.bytes(refused.status()))).then();
  }

  /**
   * The thread of a request's connection, on which responses must be written. If a response
   * completes on another thread, the client's next request may arrive before Reactor Netty knows
   * that, and is then never answered.
   */
  static Scheduler connectionThread(ServerRequest request) {
    HttpServerRequest connected = ServerHttpRequestDecorator
        .getNativeRequest(request.exchange().getRequest());
    var found = new Scheduler[1];
    connected.withConnection(
        connection -> found[0] = Schedulers.fromExecutor(connection.channel().eventLoop()));
    return found[0];
  }

  /** Ends all watches within this time. Watches that begin later end at once. */
  public void close(Loop loop, Duration over) {
    watches.close(loop, over);
  }

  /** Refuses requests of foreign web pages, because they could start processes on this machine. */
  private static void refuseWebPages(ServerRequest request) {
    var local = Objects.requireNonNull(request.exchange().getRequest().getLocalAddress());
    var refusal = new AllowedHosts(local.getAddress().getHostAddress(), local.getPort())
        .refusal(request.headers().header("Host"), request.headers().header("Origin"));
    if (refusal != null) {
      throw StatusErrors.foreign(refusal);
    }
  }

  private Mono<ServerResponse> answer(ServerRequest request) {
    refuseWebPages(request);
    // Decoded: clients escape what names of Events may have.
    String path = request.uri().getPath();
    if (HEALTH.contains(path)) {
      return ApiResponseWriter.text("ok");
    }
    if (path.equals("/openapi/v2")) {
      return ApiResponseWriter.openApiV2();
    }
    if (!acceptsJson(request)) {
      return Mono.error(StatusErrors.notAcceptable());
    }
    var document = discovery.at(path);
    if (document.isPresent()) {
      return request.method().equals(HttpMethod.GET)
          ? ApiResponseWriter.ok(document.get())
          : Mono.error(StatusErrors.method());
    }
    var computed = ComputedKinds.answer(path, request);
    return computed.isPresent()
        ? computed.get()
        : onObjects(RequestedResource.of(kinds, path), request);
  }

  private Mono<ServerResponse> onObjects(RequestedResource target, ServerRequest request) {
    if (target.kind().equals(BuiltInKinds.ENDPOINTS)) {
      warn(request.exchange().getResponse());
    }
    if (target.kind().has(Trait.EMPTY) && WRITES.contains(request.method())) {
      return Mono.error(StatusErrors.notOffered(target.kind().plural(), "they have no effect here;"
          + " programs run in a Deployment, or in a Service of serving.knative.dev/v1"));
    }
    if (target.watched()) {
      return request.method().equals(HttpMethod.GET)
          ? watches.watch(target, request)
          : Mono.error(StatusErrors.method());
    }
    return target.collection() ? onCollection(target, request) : onObject(target, request);
  }

  /** Warns in responses and refusals, beside the handler's own warnings. */
  private static void warn(ServerHttpResponse response) {
    response.beforeCommit(() -> Mono.fromRunnable(() -> Warnings.headers(ENDPOINTS_WARNING)
        .forEach(value -> response.getHeaders().add("Warning", value))));
  }

  private Mono<ServerResponse> onCollection(RequestedResource target, ServerRequest request) {
    boolean placed = !target.kind().namespaced() || !target.namespace().isEmpty();
    return switch (request.method().name()) {
      case "GET" -> new QueryParameters(request).yes("watch")
          ? watches.watch(target, request)
          : reads.list(target, request);
      case "POST" -> placed ? writes.create(target, request) : Mono.error(StatusErrors.method());
      case "DELETE" -> placed && DiscoveryDocuments.collective(target.kind())
          ? deletes.deleteAll(target, request)
          : Mono.error(StatusErrors.method());
      default -> Mono.error(StatusErrors.method());
    };
  }

  private Mono<ServerResponse> onObject(RequestedResource target, ServerRequest request) {
    if (target.subresource().equals("log")) {
      return request.method().equals(HttpMethod.GET)
          ? logs.log(target, request)
          : Mono.error(StatusErrors.method());
    }
    if (target.subresource().equals("exec") || target.subresource().equals("portforward")) {
      return streams.answer(target, request);
    }
    return switch (request.method().name()) {
      case "GET" -> target.subresource().equals("scale")
          ? reads.scale(target)
          : reads.get(target, request);
      // As in a cluster. Pekko's and Akka's leases are created so.
      case "POST" -> target.subresource().isEmpty() && !target.kind().has(Trait.BUILT_IN)
          ? writes.create(target, request)
          : Mono.error(StatusErrors.method());
      case "PUT" -> writes.update(target, request);
      case "PATCH" -> writes.patch(target, request);
      case "DELETE" -> target.subresource().isEmpty()
          ? deletes.delete(target, request)
          : Mono.error(StatusErrors.method());
      default -> Mono.error(StatusErrors.method());
    };
  }

  private static boolean acceptsJson(ServerRequest request) {
    var accept = request.headers().accept();
    return accept.isEmpty()
        || accept.stream().anyMatch(type -> type.isCompatibleWith(MediaType.APPLICATION_JSON));
  }
}
