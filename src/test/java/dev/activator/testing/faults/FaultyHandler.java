package dev.activator.testing.faults;

import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;

/** Stands before a server's handler: writes requests down, and does to them what rules say. */
public final class FaultyHandler implements HttpHandler {
  private static final int SWITCHING_PROTOCOLS = 101;

  private final HttpHandler inner;
  private final Faults faults;

  public FaultyHandler(HttpHandler inner, Faults faults) {
    this.inner = inner;
    this.faults = faults;
  }

  @Override
  public Mono<Void> handle(ServerHttpRequest request, ServerHttpResponse response) {
    var call = faults.opened(Asked.of(request), channel(request));
    return answer(call, request, response)
        .doFinally(signal -> ended(call, end(signal), status(call, response)));
  }

  /** A WebSocket goes on after the request for it was answered: until its connection is gone. */
  private void ended(OpenCall call, Call.End end, int status) {
    if (status == SWITCHING_PROTOCOLS) {
      call.channel().closeFuture().addListener(_ -> faults.ended(call, end, status));
    } else {
      faults.ended(call, end, status);
    }
  }

  private Mono<Void> answer(OpenCall call, ServerHttpRequest request, ServerHttpResponse response) {
    var hits = faults.hits(call);
    each(hits, Fault.OnConnection.class, call.line()::arm);
    if (call.asked().verb() == Verb.WATCH) {
      each(hits, Fault.OnEvents.class, call.line()::arm);
    }
    var asked = new Rewriting(faults).of(request, call, hits);
    var answer = response;
    for (var hit : hits) {
      answer = hit instanceof Fault.OnBody body
          ? new BrokenAnswer(answer, body, faults.clock(), call.line())
          : answer;
    }
    var afflicted = inner(asked, answer);
    for (var hit : hits) {
      afflicted = hit instanceof Fault.OnAnswer onAnswer
          ? instead(onAnswer, call, response, afflicted)
          : afflicted;
    }
    return afflicted;
  }

  private Mono<Void> inner(ServerHttpRequest request, ServerHttpResponse response) {
    return Mono.defer(() -> inner.handle(request, response));
  }

  private Mono<Void> instead(Fault.OnAnswer fault, OpenCall call, ServerHttpResponse response,
      Mono<Void> right) {
    return switch (fault) {
      case Fault.Answer answer -> write(answer, response);
      case Fault.RefusedWrite(var reason) ->
        write(Fault.Answer.status(Refusal.of(call.asked(), reason)), response);
      case Fault.EndlessAnswer(int code) -> endless(code, call, response);
      case Fault.NoAnswer _ -> hang(call);
      case Fault.LateAnswer(var pause) -> Later.of(faults.clock(), pause)
          .publishOn(Schedulers.fromExecutor(call.channel().eventLoop())).then(right);
    };
  }

  private static Mono<Void> write(Fault.Answer answer, ServerHttpResponse response) {
    var body = answer.body().getBytes(StandardCharsets.UTF_8);
    response.setStatusCode(HttpStatusCode.valueOf(answer.code()));
    var headers = response.getHeaders();
    headers.setContentLength(body.length);
    if (!answer.contentType().isEmpty()) {
      headers.set("Content-Type", answer.contentType());
    }
    if (answer.retryAfterSeconds() > 0) {
      headers.set("Retry-After", Integer.toString(answer.retryAfterSeconds()));
    }
    return body.length == 0 ? response.setComplete() : response.writeWith(Mono.just(buffer(body)));
  }

  private Mono<Void> endless(int code, OpenCall call, ServerHttpResponse response) {
    response.setStatusCode(HttpStatusCode.valueOf(code));
    response.getHeaders().set("Content-Type", "application/json");
    return response.writeAndFlushWith(Flux.concat(Flux.just(Flux.<DataBuffer>empty()),
        this.<Flux<DataBuffer>>hang(call)));
  }

  /** Nothing, until the fault is healed: then the client is set free to ask again. */
  private <T> Mono<T> hang(OpenCall call) {
    return Mono.<T>never()
        .doOnSubscribe(_ -> call.undoActions().add(call.line()::reset));
  }

  private static <T extends Fault> void each(List<Fault> hits, Class<T> type, Consumer<T> action) {
    hits.stream().filter(type::isInstance).map(type::cast).forEach(action);
  }

  private static DataBuffer buffer(byte[] bytes) {
    return DefaultDataBufferFactory.sharedInstance.wrap(bytes);
  }

  private static Call.End end(SignalType signal) {
    return signal == SignalType.ON_COMPLETE ? Call.End.ANSWERED : Call.End.BROKEN;
  }

  private static int status(OpenCall call, ServerHttpResponse response) {
    if (call.asked().transport() == Asked.Transport.WEBSOCKET && call.outlet() != null) {
      return SWITCHING_PROTOCOLS;
    }
    var status = response.getStatusCode();
    return status == null ? 0 : status.value();
  }

  private static Channel channel(ServerHttpRequest request) {
    HttpServerRequest connected = ServerHttpRequestDecorator.getNativeRequest(request);
    var found = new Channel[1];
    connected.withConnection(connection -> found[0] = connection.channel());
    return found[0];
  }
}
