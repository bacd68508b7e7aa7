package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerResponse;

/**
 * The sample program. It takes a second to start, and responds to each request with a greeting. It
 * runs in this process, so nothing has to be installed.
 */
final class HelloProcess implements PodProcess {
  private static final Duration START = Duration.ofSeconds(1);

  private final Loop loop;
  private final Spec spec;
  private final ProcessOutputReader output;
  private final Consumer<ExitReason> exited;
  private @Nullable DisposableServer server;
  private boolean ended;

  private HelloProcess(Loop loop, Spec spec, ProcessOutputReader output,
      Consumer<ExitReason> exited) {
    this.loop = loop;
    this.spec = spec;
    this.output = output;
    this.exited = exited;
  }

  static Starter on(Loop loop) {
    return (spec, output, exited) -> {
      var hello = new HelloProcess(loop, spec, output, exited);
      loop.schedule(START, hello::listen);
      return hello;
    };
  }

  @Override
  public void stop(Duration killAfter) {
    if (ended) {
      return;
    }
    ended = true;
    if (server != null) {
      server.dispose();
    }
    output.end();
    loop.execute(() -> exited.accept(ExitReason.code(spec.template().id().name(), 0, "")));
  }

  @Override
  public void kill() {
    stop(Duration.ZERO);
  }

  @Override
  public String freeze() {
    return "the sample runs in this process";
  }

  @Override
  public void thaw() {
    // It cannot be frozen.
  }

  @Override
  public long pid() {
    return ProcessHandle.current().pid();
  }

  private void listen() {
    if (!ended) {
      HttpServer.create().protocol(HttpProtocol.HTTP11, HttpProtocol.H2C).host("127.0.0.1")
          .port(spec.port()).handle((request, response) -> greet(response)).bind()
          .subscribe(bound -> loop.execute(() -> listening(bound)),
              failure -> loop.execute(() -> failed(failure)));
    }
  }

  private Mono<Void> greet(HttpServerResponse response) {
    String greeting = "Hello from revision " + spec.template().id().name() + "\n";
    return response.header("Content-Type", "text/plain; charset=utf-8")
        .header("Content-Length", Integer.toString(greeting.length()))
        .sendString(Mono.just(greeting)).then();
  }

  private void listening(DisposableServer bound) {
    server = bound;
    output.print("listening on port " + spec.port());
    if (ended) {
      bound.dispose();
    }
  }

  private void failed(Throwable cause) {
    if (!ended) {
      ended = true;
      output.end();
      exited.accept(spec.cannotRun(cause));
    }
  }
}
