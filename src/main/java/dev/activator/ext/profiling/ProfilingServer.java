package dev.activator.ext.profiling;

import dev.activator.config.ObservabilityConfig.Profiling;
import dev.activator.config.AllowedHosts;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.ObjectName;
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
 * The server of {@code /debug/pprof/}. While profiling is disabled, it answers with 404. Each
 * connection serves one request.
 *
 * <p><b>Threads.</b> Any may switch profiling. Profiles are recorded on threads that may block.
 *
 * <p><b>Source.</b> {@code observability/runtime/pprof.go} of {@code knative.dev/pkg}.
 */
public final class ProfilingServer {
  private static final Logger log = LoggerFactory.getLogger(ProfilingServer.class);
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(15);
  private static final String PREFIX = "/debug/pprof/";
  private static final String INDEX = """
      profiles of this process:
        cmdline
        goroutine
        heap
        profile?seconds=30
      """;

  private final String host;
  private final int port;
  private final FlightRecordingHandler recordings = new FlightRecordingHandler();
  private volatile Profiling profiling = Profiling.DISABLED;
  private @Nullable LoopResources loops;
  private volatile @Nullable DisposableServer server;

  public ProfilingServer(String host, int port) {
    this.host = host;
    this.port = port;
  }

  public void use(Profiling now) {
    if (now != profiling) {
      log.info("Profiling is {}", now == Profiling.ENABLED ? "on" : "off");
    }
    profiling = now;
  }

  /**
   * Returns the port.
   *
   * @throws IOException naming the address
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
    } catch (RuntimeException e) {
      own.dispose();
      var cause = e.getCause() == null ? e : e.getCause();
      throw new IOException("cannot listen on " + host + ":" + port + ": "
          + cause.getMessage(), e);
    }
  }

  /** Stops listening, and ends requests in flight. Idempotent. */
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
    var refusal = refusal(request);
    if (refusal != null) {
      response.status(HttpResponseStatus.FORBIDDEN);
      return text(response, () -> refusal + "\n");
    }
    return switch (request.fullPath()) {
      case PREFIX -> text(response, () -> INDEX);
      case PREFIX + "goroutine", PREFIX + "threads" ->
        text(response, () -> diagnostic("threadPrint"));
      case PREFIX + "heap", PREFIX + "allocs" ->
        text(response, () -> diagnostic("gcClassHistogram"));
      case PREFIX + "cmdline" -> text(response, ProfilingServer::commandLine);
      case PREFIX + "profile" -> recordings.answer(request, response);
      default -> response.sendNotFound();
    };
  }

  /**
   * Checks the host only on a loopback address, because the names of other addresses are not known.
   */
  private @Nullable String refusal(HttpServerRequest request) {
    var bound = request.hostAddress();
    return bound == null || !bound.getAddress().isLoopbackAddress()
        ? null
        : new AllowedHosts(host, bound.getPort()).refusal(request.requestHeaders().getAll("Host"),
            request.requestHeaders().getAll("Origin"));
  }

  private static Publisher<Void> text(HttpServerResponse response, Callable<String> text) {
    response.header(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
    return response.sendString(Mono.fromCallable(text).subscribeOn(Schedulers.boundedElastic()));
  }

  private static String commandLine() {
    var info = ProcessHandle.current().info();
    return info.commandLine().orElseGet(() -> info.command().orElse("")) + "\n";
  }

  private static String diagnostic(String command) {
    try {
      return (String) ManagementFactory.getPlatformMBeanServer().invoke(
          new ObjectName("com.sun.management:type=DiagnosticCommand"), command,
          new Object[]{new String[0]}, new String[]{String[].class.getName()});
    } catch (JMException e) {
      return "this runtime does not support it: " + e.getMessage() + "\n";
    }
  }

  /** Closes a connection if it sends no request in time. */
  static final class HeadDeadline extends ChannelInboundHandlerAdapter {
    private final Duration timeout;
    private @Nullable Future<?> deadline;

    HeadDeadline(Duration timeout) {
      this.timeout = timeout;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      deadline = context.executor().schedule(() -> {
        var _ = context.close();
      }, timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpRequest) {
        cancel();
      }
      context.fireChannelRead(message);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
      cancel();
    }

    private void cancel() {
      if (deadline != null) {
        deadline.cancel(false);
      }
    }
  }
}
