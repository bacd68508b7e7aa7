package dev.activator.app;

import dev.activator.config.Profiling;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * Answers questions about the running process at {@code /debug/pprof/}, as long as that is switched
 * on; else it knows no path at all. Each connection is for one question.
 *
 * <p>
 * <b>Threads.</b> One starts and stops; any may switch. Answers are made on threads that may wait,
 * and written on an event loop that no request runs on.
 *
 * <p>
 * <b>Source.</b> {@code observability/runtime/pprof.go} of {@code knative.dev/pkg}.
 */
public final class ProfilingServer {
  private static final Logger log = LoggerFactory.getLogger(ProfilingServer.class);
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(15);
  private static final String PREFIX = "/debug/pprof/";

  private final String host;
  private final int port;
  private final Recordings recordings = new Recordings();
  private volatile Profiling profiling = Profiling.DISABLED;
  private @Nullable LoopResources loops;
  private @Nullable DisposableServer server;

  /** One that does not listen yet; 0 stands for a free port. */
  public ProfilingServer(String host, int port) {
    this.host = host;
    this.port = port;
  }

  /** Answers from now on, or does not. */
  public void use(Profiling now) {
    if (now != profiling) {
      log.info("Profiling is {}", now == Profiling.ENABLED ? "on" : "off");
    }
    profiling = now;
  }

  /**
   * Listens, and returns the port.
   *
   * @throws IOException with the address and port in its message, if that is not possible
   */
  public int start() throws IOException {
    var own = LoopResources.create("profiling", 1, true);
    try {
      var bound = HttpServer.create().host(host).port(port).runOn(own)
          .option(ChannelOption.SO_REUSEADDR, true)
          .doOnChannelInit((_, channel, _) -> channel.pipeline().addAfter(NettyPipeline.HttpCodec,
              "head deadline", new HeadDeadline(HEAD_TIMEOUT)))
          .handle(this::answer).bindNow();
      loops = own;
      server = bound;
      log.info("Profiling listens on {}:{}", host, bound.port());
      return bound.port();
    } catch (RuntimeException taken) {
      own.dispose();
      throw new IOException("cannot listen on " + host + ":" + port + ": " + rootOf(taken), taken);
    }
  }

  private static String rootOf(Throwable failure) {
    var root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage());
  }

  /** Ends, answers under way included. Twice is once. */
  public void stop() {
    if (server != null) {
      server.disposeNow();
      server = null;
    }
    if (loops != null) {
      loops.dispose();
      loops = null;
    }
  }

  private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
    response.keepAlive(false);
    if (profiling == Profiling.DISABLED) {
      return response.sendNotFound();
    }
    return switch (request.fullPath()) {
      case PREFIX -> text(response, ProcessText::index);
      case PREFIX + "goroutine", PREFIX + "threads" -> text(response, ProcessText::threads);
      case PREFIX + "heap", PREFIX + "allocs" -> text(response, ProcessText::heap);
      case PREFIX + "cmdline" -> text(response, ProcessText::commandLine);
      case PREFIX + "profile" -> recordings.answer(request, response);
      default -> response.sendNotFound();
    };
  }

  /** How such a text is made, which may take a while. */
  private interface Text {
    String make();
  }

  private static Publisher<Void> text(HttpServerResponse response, Text text) {
    response.header(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
    return response.sendString(
        Mono.fromCallable(text::make).subscribeOn(Schedulers.boundedElastic()));
  }

  /** The paths there are, for the index. */
  static List<String> paths() {
    return List.of("cmdline", "goroutine", "heap", "profile?seconds=30");
  }
}
