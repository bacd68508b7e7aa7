package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.loop.policy.RateLimit;
import dev.activator.revision.PortProtocol;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.UpstreamPool.Dial;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends probes over the connection pools of requests. It keeps the connection after a complete
 * answer, so that the first request finds an open connection.
 */
public final class HttpProbeClient implements ProbeClient {
  private final ConnectionPoolsByLoop upstreams;
  private final Map<LoopConnectionPools, ConnectPoller> pollers = new IdentityHashMap<>();
  private final int attemptsPerSecond;
  private @Nullable RateLimit rate;

  /**
   * @param attemptsPerSecond the limit of connection attempts to addresses that have refused, for
   *     all loops together
   */
  public HttpProbeClient(ConnectionPoolsByLoop upstreams, int attemptsPerSecond) {
    this.upstreams = upstreams;
    this.attemptsPerSecond = attemptsPerSecond;
  }

  @Override
  public void probe(Loop loop, ProbeRequest request, Consumer<ProbeResult> done) {
    var answer = request.what().answer();
    if (answer == null && isOfTcp(request) && upstreams.of(loop).hasSpare(request.destination())) {
      loop.execute(() -> done.accept(new ProbeResult.Connected()));
    } else if (answer == null) {
      new Probe(loop, upstreams.of(loop), request, done).start();
    } else {
      new AnswerProbe(loop, request, answer, done).start(upstreams.of(loop));
    }
  }

  @Override
  public void awaitListener(Loop loop, ProbeRequest next, Duration pause, Duration limit,
      Consumer<Boolean> refused) {
    var pools = upstreams.of(loop);
    poller(pools).check(next.destination(), pause, limit, socket -> {
      if (isOfTcp(next)) {
        // For the probe, or for the client if the probe needs no more than a connection.
        pools.keep(next.destination(), socket);
      } else if (!next.path().isEmpty() && next.protocol() == PortProtocol.HTTP1
          && !next.target().overTls()) {
        pools.adopt(next.destination(), socket);
      } else {
        Dialer.closeUnused(socket);
      }
      refused.accept(false);
    }, refused);
  }

  private static boolean isOfTcp(ProbeRequest request) {
    return request.protocol() == PortProtocol.TCP && !request.target().overTls();
  }

  private synchronized ConnectPoller poller(LoopConnectionPools pools) {
    if (rate == null) {
      rate = new RateLimit(attemptsPerSecond, pools.loop().nanoTime());
    }
    var shared = rate;
    return pollers.computeIfAbsent(pools, _ -> new ConnectPoller(pools.loop(), shared));
  }

  private static final class Probe implements UpstreamListener {
    private static final int KEPT_BYTES = 1 << 10;
    /** If the answer is longer, the connection is closed. */
    private static final int READ_BYTES = 64 << 10;

    private final Loop loop;
    private final LoopConnectionPools pools;
    private final ProbeRequest request;
    private final Consumer<ProbeResult> done;
    private final long startedNanos;
    private final StringBuilder body = new StringBuilder(0);
    private Loop.@Nullable Timer timer;
    private @Nullable Dial dial;
    private @Nullable UpstreamConnection connection;
    private @Nullable HttpResponse head;
    private int readBytes;
    private boolean answered;
    private boolean retried;

    Probe(Loop loop, LoopConnectionPools pools, ProbeRequest request, Consumer<ProbeResult> done) {
      this.loop = loop;
      this.startedNanos = loop.nanoTime();
      this.pools = pools;
      this.request = request;
      this.done = done;
    }

    void start() {
      timer = timeOut(request.connectTimeout());
      loop.execute(this::connect);
    }

    private Loop.Timer timeOut(Duration after) {
      return loop.schedule(after.minusNanos(loop.nanoTime() - startedNanos),
          () -> answer(new ProbeResult.TimedOut(after, connection != null)));
    }

    private void connect() {
      if (answered) {
        return;
      }
      var open = request.path().isEmpty() ? null : pool().reuse(this);
      if (open != null) {
        connected(open);
      } else {
        dial = pool().dial(this);
      }
    }

    private UpstreamPool pool() {
      boolean connectsOnly = request.path().isEmpty()
          && request.protocol() != PortProtocol.NEGOTIATED;
      return pools.to(request.target(), connectsOnly ? PortProtocol.HTTP1 : request.protocol());
    }

    @Override
    public void connected(UpstreamConnection open) {
      connection = open;
      if (timer != null && !request.connectTimeout().equals(request.timeout())) {
        timer.cancel();
        timer = timeOut(request.timeout());
      }
      if (request.path().isEmpty()) {
        // Closes the connection, because a server that takes one connection at a time would wait
        // for a request on it.
        answer(new ProbeResult.Connected());
        return;
      }
      var question = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, request.path());
      question.headers().set(HttpHeaderNames.HOST, request.host());
      request.what().headers()
          .forEach((name, values) -> question.headers().set(name, values));
      open.write(question);
      open.write(LastHttpContent.EMPTY_LAST_CONTENT);
      open.flush();
    }

    @Override
    public void interim(HttpResponse ignored) {}

    @Override
    public void head(HttpResponse response) {
      if (response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
        answer(new ProbeResult.InvalidResponse(
            "the pod switched to a protocol that was not requested"));
      } else {
        head = response;
      }
    }

    @Override
    public void content(HttpContent content) {
      try {
        keep(content);
      } finally {
        content.release();
      }
      if (content instanceof LastHttpContent) {
        complete();
      } else if (readBytes > READ_BYTES && head != null) {
        answer(answered(head));
      }
    }

    private void keep(HttpContent content) {
      var bytes = content.content();
      readBytes += bytes.readableBytes();
      int room = Math.min(KEPT_BYTES - body.length(), bytes.readableBytes());
      body.append(bytes.toString(bytes.readerIndex(), room, StandardCharsets.UTF_8));
    }

    private void complete() {
      if (connection != null && head != null) {
        connection.release();
        connection = null;
        answer(answered(head));
      }
    }

    private ProbeResult answered(HttpResponse response) {
      return new ProbeResult.Answered(response.status().code(), body.toString(),
          response.headers().get(HttpHeaderNames.LOCATION, ""));
    }

    @Override
    public void readComplete() {}

    @Override
    public void writabilityChanged() {}

    @Override
    public void failed(UpstreamFailure failure) {
      var ended = connection;
      connection = null;
      if (ended != null && ended.reused() && head == null && !retried) {
        retried = true;
        dial = pool().dial(this);
      } else {
        answer(ended != null || wasConnected(failure)
            ? new ProbeResult.InvalidResponse(failure.text())
            : ProbeResult.withoutConnection(failure));
      }
    }

    private static boolean wasConnected(UpstreamFailure failure) {
      return switch (failure) {
        case CLOSED, MALFORMED, NO_HTTP1, NO_HTTP2, NO_SETTINGS -> true;
        default -> false;
      };
    }

    private void answer(ProbeResult answer) {
      if (answered) {
        return;
      }
      answered = true;
      if (timer != null) {
        timer.cancel();
      }
      if (dial != null && answer instanceof ProbeResult.TimedOut) {
        dial.timedOut();
      } else if (dial != null) {
        dial.cancel();
      }
      if (connection != null) {
        connection.close();
      }
      done.accept(answer);
    }
  }
}
