package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.StatusException;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.WebsocketServerSpec;
import tools.jackson.databind.node.ObjectNode;

/**
 * The handler of connections to the process of a pod, {@code exec} and {@code portforward}, over
 * WebSockets.
 */
final class ExecPortForwardHandler {
  private static final int MAX_FRAME_BYTES = 1024 * 1024;

  private final ApiStore store;
  private final HandshakeWebSocketService sockets = new HandshakeWebSocketService(
      new ReactorNettyRequestUpgradeStrategy(
          () -> WebsocketServerSpec.builder().maxFramePayloadLength(MAX_FRAME_BYTES)));

  @FunctionalInterface
  private interface Conversation {
    Mono<Void> over(WebSocketSession session);
  }

  ExecPortForwardHandler(ApiStore store) {
    this.store = store;
  }

  Mono<ServerResponse> answer(RequestedResource target, ServerRequest request) {
    var pod = store.find(BuiltInKinds.POD, target.namespace(), target.name());
    if (pod == null) {
      return Mono.error(StatusException.notFound(BuiltInKinds.POD, target.name()));
    }
    return target.subresource().equals("exec")
        ? exec(pod, request)
        : upgraded(request, List.of(PortForwardSession.PROTOCOL),
            session -> new PortForwardSession(session, port -> listening(pod, port)).run());
  }

  private Mono<ServerResponse> exec(ObjectNode pod, ServerRequest request) {
    var query = new QueryParameters(request);
    PodLogHandler.requireContainer(pod, query);
    if (query.yes("tty")) {
      return Mono.error(StatusErrors.notOffered("a terminal", "leave out -t"));
    }
    var running = store.podProcesses().find(ObjectMeta.namespace(pod), ObjectMeta.name(pod));
    if (running == null) {
      return Mono.error(StatusException.badRequest(
          "the process of pod " + ObjectMeta.name(pod) + " does not run"));
    }
    var command = request.queryParams().getOrDefault("command", List.of());
    if (command.isEmpty()) {
      return Mono.error(StatusException.badRequest("you must specify at least 1 command"));
    }
    var builder = running.like().get().command(command).redirectErrorStream(false);
    return upgraded(request, ExecSession.PROTOCOLS,
        session -> new ExecSession(session, builder, query.yes("stdin")).run());
  }

  /**
   * The port on this machine for a port of the pod. A port that the container does not list means
   * the port of its process, as in Endpoints.
   */
  private static int listening(ObjectNode pod, int port) {
    var ports = pod.at("/spec/containers/0/ports").valueStream()
        .map(one -> one.path("containerPort").asInt(0)).toList();
    return ports.isEmpty() || ports.contains(port) ? port : ports.getFirst();
  }

  private Mono<ServerResponse> upgraded(ServerRequest request, List<String> protocols,
      Conversation conversation) {
    boolean upgrade = request.headers().header("Upgrade").stream()
        .anyMatch("websocket"::equalsIgnoreCase);
    if (!upgrade) {
      return Mono
          .error(StatusErrors.notOffered("SPDY", "use WebSockets, as kubectl does since 1.31"));
    }
    var offered = request.headers().header("Sec-WebSocket-Protocol");
    if (!offered.isEmpty() && offered.stream().flatMap(all -> Stream.of(all.split(",")))
        .map(String::strip).noneMatch(protocols::contains)) {
      return Mono.error(StatusErrors.notOffered(String.join(", ", offered),
          "use " + String.join(" or ", protocols)));
    }
    return ServerResponse.ok()
        .build((exchange, _) -> sockets.handleRequest(exchange, new WebSocketHandler() {
          @Override
          public List<String> getSubProtocols() {
            return protocols;
          }

          @Override
          public Mono<Void> handle(WebSocketSession session) {
            return conversation.over(session);
          }
        }));
  }
}
