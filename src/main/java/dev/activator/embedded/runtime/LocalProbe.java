package dev.activator.embedded.runtime;

import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.ProbeRedirect;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import javax.net.ssl.SSLException;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A startup, readiness or liveness probe of a container.
 *
 * @param period zero for the default
 */
record LocalProbe(Action action, Duration initialDelay, Duration period, Duration timeout,
    int successThreshold, int failureThreshold) {
  private static final int MAX_SECONDS = 3600;
  /** The limit of the first line, since a program may send one that never ends. */
  private static final int MAX_LINE_CHARS = 1024;
  private static final int MAX_HEAD_BYTES = 1 << 20;

  /**
   * The outcome of an attempt.
   *
   * @param problem why it failed; empty if it passed
   * @param nothingListens whether nothing listens on the port, so that the process has not noticed the
   *     attempt
   */
  record Outcome(String problem, boolean nothingListens) {
    static final Outcome PASSED = new Outcome("", false);

    /** @param problem may be empty */
    static Outcome of(String problem) {
      return new Outcome(problem, false);
    }

    boolean passed() {
      return problem.isEmpty();
    }
  }

  sealed interface Action {}

  /** @param tls whether the request is over TLS; as in the kubelet, any certificate is accepted */
  record HttpGet(int port, String path, Map<String, List<String>> headers, boolean tls)
      implements Action {}

  record Connect(int port) implements Action {}

  record Exec(List<String> command) implements Action {}

  /** @param service the service to check; empty for the whole program */
  record Grpc(int port, String service) implements Action {}

  /** The probed process: its id and port are for messages, and the builder for exec probes. */
  record Probed(long pid, int port, Supplier<ProcessBuilder> builder) {
    private String port(int number) {
      return number == port ? "its PORT " + number : "port " + number;
    }

    private String request(HttpGet get) {
      return "GET " + get.path() + " on " + port(get.port());
    }
  }

  /** @param ports maps a port of the manifest to a port on this machine */
  static LocalProbe of(JsonNode probe, ToIntFunction<JsonNode> ports) {
    return new LocalProbe(action(probe, ports), seconds(probe, "initialDelaySeconds", 0),
        seconds(probe, "periodSeconds", 0), seconds(probe, "timeoutSeconds", 1),
        upFromOne(probe, "successThreshold", 1), upFromOne(probe, "failureThreshold", 3));
  }

  static LocalProbe connecting(int port) {
    return new LocalProbe(new Connect(port), Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1),
        1, 3);
  }

  private static Action action(JsonNode probe, ToIntFunction<JsonNode> ports) {
    if (probe.has("exec")) {
      return new Exec(probe.path("exec").path("command").valueStream()
          .map(word -> word.asString("")).toList());
    }
    if (probe.path("grpc") instanceof ObjectNode grpc) {
      return new Grpc(ports.applyAsInt(grpc.path("port")), grpc.path("service").asString(""));
    }
    var get = probe.path("httpGet");
    int port = ports.applyAsInt((get.isObject() ? get : probe.path("tcpSocket")).path("port"));
    if (!get.isObject()) {
      return new Connect(port);
    }
    var headers = new TreeMap<String, List<String>>();
    for (var header : get.path("httpHeaders")) {
      headers.computeIfAbsent(header.path("name").stringValue(""), _ -> new ArrayList<>(1))
          .add(header.path("value").asString(""));
    }
    // The activator also reads this probe, and logs the parts that are ignored.
    var form = ReadinessProbeSpec.httpGet(get.path("path").stringValue(""), headers,
        new ArrayList<>());
    return form.connects()
        ? new Connect(port)
        : new HttpGet(port, form.path(), form.headers(),
            get.path("scheme").asString("").equalsIgnoreCase("HTTPS"));
  }

  private static Duration seconds(JsonNode probe, String field, int absent) {
    return Duration.ofSeconds(Math.clamp(probe.path(field).intValue(absent), absent, MAX_SECONDS));
  }

  private static int upFromOne(JsonNode probe, String field, int absent) {
    int number = probe.path(field).intValue(absent);
    return number < 1 ? absent : Math.min(number, MAX_SECONDS);
  }

  LocalProbe with(Action other) {
    return new LocalProbe(other, initialDelay, period, timeout, successThreshold, failureThreshold);
  }

  /** Makes one attempt, which blocks. */
  Outcome attempt(Probed process) {
    return switch (action) {
      case Exec(var command) -> Outcome.of(run(command, process.builder().get()));
      case Connect(var port) -> connect(port, process, socket -> "");
      case HttpGet get -> get(get, process);
      case Grpc grpc -> connect(grpc.port(), process, _ -> grpc(grpc, process));
    };
  }

  private String grpc(Grpc grpc, Probed process) {
    String problem = GrpcHealthProbe.problem(grpc.port(), grpc.service(), timeout);
    return problem.isEmpty()
        ? ""
        : "process " + process.pid() + ", called for gRPC's health check on "
            + process.port(grpc.port()) + ", " + problem;
  }

  interface Conversation {
    String over(Socket socket) throws IOException;
  }

  private Outcome connect(int port, Probed process, Conversation conversation) {
    try (var socket = new Socket()) {
      return connect(socket, port, process, conversation);
    } catch (IOException e) {
      return e instanceof SocketTimeoutException
          ? Outcome.of(late(port, process))
          : silent(port, process);
    }
  }

  private static String late(int port, Probed process) {
    return "process " + process.pid() + " does not accept connections on " + process.port(port);
  }

  private static Outcome silent(int port, Probed process) {
    return new Outcome(
        "process " + process.pid() + " runs, nothing listens on " + process.port(port), true);
  }

  /** Connects a socket that is not connected yet, and runs the conversation on it. */
  Outcome connect(Socket socket, int port, Probed process, Conversation conversation)
      throws IOException {
    var address = new InetSocketAddress(PodObjectBuilder.LOOPBACK, port);
    socket.connect(address, millis());
    // If nothing listens, a socket whose local port happens to be this port connects to itself.
    if (address.equals(socket.getLocalSocketAddress())) {
      return silent(port, process);
    }
    return Outcome.of(conversation.over(socket));
  }

  /** The timeout is for the whole answer, since a program may answer byte by byte. */
  private Outcome get(HttpGet get, Probed process) {
    var connected = new AtomicBoolean();
    return answer(get, process, connected, 1).timeout(timeout)
        .onErrorResume(TimeoutException.class, _ -> Mono.just(Outcome.of(connected.get()
            ? "process " + process.pid() + " accepts connections, but does not answer "
                + process.request(get) + " within " + timeout.toSeconds() + " s"
            : late(get.port(), process))))
        .blockOptional().orElseThrow();
  }

  /** @param requests how many were sent, with this one */
  private Mono<Outcome> answer(HttpGet get, Probed process, AtomicBoolean connected, int requests) {
    String who = "process " + process.pid();
    String what = process.request(get);
    var client = client(get).doOnConnected(_ -> connected.set(true));
    return client.get().uri(get.path()).responseConnection((response, connection) -> {
      int status = response.status().code();
      var redirect = ProbeRedirect.of((get.tls() ? "https" : "http") + "://"
          + PodObjectBuilder.LOOPBACK + ":" + get.port() + get.path(), status,
          status / 100 == 3
              ? response.responseHeaders().get(HttpHeaderNames.LOCATION, "")
              : "",
          requests);
      connection.dispose();
      // A server may serve one connection at a time.
      return connection.onDispose().then(Mono.defer(() -> switch (redirect) {
        case ProbeRedirect.None() -> Mono.just(status >= 200 && status < 400
            ? Outcome.PASSED
            : Outcome.of(who + " answers " + what + " with " + status));
        case ProbeRedirect.Failed(var reason) ->
          Mono.just(Outcome.of(who + " " + reason + " for " + what));
        case ProbeRedirect.Follow next -> answer(redirected(get, next), process, connected,
            requests + 1);
      }));
    }).next().onErrorResume(failure -> Mono.just(switch (failure) {
      case ConnectTimeoutException _ -> Outcome.of(late(get.port(), process));
      case ConnectException _ -> requests == 1
          ? silent(get.port(), process)
          : Outcome.of(
              who + " redirects to " + process.port(get.port()) + ", on which nothing listens");
      case IOException _ ->
        Outcome.of(who + " ended the connection before it answered " + what);
      default -> Outcome.of(who + " does not speak HTTP on " + process.port(get.port()));
    }));
  }

  private HttpClient client(HttpGet get) {
    var sent = ReadinessProbeSpec.sent(get.headers());
    sent.compute("Host", (_, own) -> List.of(own == null
        ? PodObjectBuilder.LOOPBACK + ":" + get.port()
        : own.getFirst()));
    var client = HttpClient.newConnection().disableRetry(true)
        .host(PodObjectBuilder.LOOPBACK).port(get.port())
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis())
        .httpResponseDecoder(decoder -> decoder.maxInitialLineLength(MAX_LINE_CHARS)
            .maxHeaderSize(MAX_HEAD_BYTES))
        // Replaces what the client adds, such as Accept.
        .doOnRequest((request, _) -> {
          request.requestHeaders().clear();
          sent.forEach(request.requestHeaders()::set);
        });
    return get.tls()
        ? client.doOnChannelInit((_, channel, _) -> channel.pipeline().addFirst(tls(channel)))
        : client;
  }

  /** As in the kubelet, any certificate is accepted. */
  private static SslHandler tls(Channel channel) {
    try {
      return SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE)
          .endpointIdentificationAlgorithm(null).build().newHandler(channel.alloc());
    } catch (SSLException e) {
      throw new IllegalStateException("every Java platform has TLS", e);
    }
  }

  private static HttpGet redirected(HttpGet get, ProbeRedirect.Follow next) {
    var headers = new TreeMap<>(get.headers());
    if (!next.keepsHost()) {
      headers.keySet().removeIf("Host"::equalsIgnoreCase);
    }
    return new HttpGet(next.port(), next.path(), headers, next.tls());
  }

  private String run(List<String> command, ProcessBuilder like) {
    var builder = new ProcessBuilder(command).directory(like.directory())
        .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    builder.environment().putAll(like.environment());
    String what = "the probe " + command;
    try {
      var running = builder.start();
      if (!running.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        running.descendants().forEach(ProcessHandle::destroyForcibly);
        running.destroyForcibly();
        return what + " did not end within " + timeout.toSeconds() + " s";
      }
      int code = running.exitValue();
      return code == 0 ? "" : what + " ended with exit code " + code;
    } catch (IOException | IndexOutOfBoundsException e) {
      return what + " cannot run: " + e.getMessage();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return what + " was interrupted";
    }
  }

  private int millis() {
    return Math.toIntExact(timeout.toMillis());
  }
}
