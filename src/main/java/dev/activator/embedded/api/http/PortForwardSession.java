package dev.activator.embedded.api.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.spdy.DefaultSpdyDataFrame;
import io.netty.handler.codec.spdy.DefaultSpdyPingFrame;
import io.netty.handler.codec.spdy.DefaultSpdySynReplyFrame;
import io.netty.handler.codec.spdy.SpdyDataFrame;
import io.netty.handler.codec.spdy.SpdyFrame;
import io.netty.handler.codec.spdy.SpdyFrameCodec;
import io.netty.handler.codec.spdy.SpdyPingFrame;
import io.netty.handler.codec.spdy.SpdyRstStreamFrame;
import io.netty.handler.codec.spdy.SpdySynStreamFrame;
import io.netty.handler.codec.spdy.SpdyVersion;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;
import reactor.netty.tcp.TcpClient;

/**
 * The session of {@code kubectl port-forward}: it forwards connections to ports of a pod, as SPDY
 * streams in the messages of a WebSocket. Each connection has two streams: first one for errors,
 * then one for data.
 *
 * <p>There is no flow control, since the client's library has none. A connection that is not read
 * blocks the other connections of the same client.
 *
 * <p><b>Threads.</b> The thread of the WebSocket.
 *
 * <p><b>Source.</b> {@code tools/portforward} in Kubernetes' client-go; the kubelet's
 * {@code portforward/httpstream.go}.
 */
final class PortForwardSession {
  static final String PROTOCOL = "SPDY/3.1+portforward.k8s.io";
  private static final int MAX_CONNECTIONS = 1000;

  private final WebSocketSession session;
  private final IntUnaryOperator ports;
  private final EmbeddedChannel decoder = codec();
  private final EmbeddedChannel encoder = codec();
  private final Sinks.Many<Flux<SpdyFrame>> answers = Sinks.many().unicast()
      .onBackpressureBuffer();
  private final Map<String, Integer> errorStreams = new HashMap<>();
  private final Map<Integer, Mono<Connection>> connections = new HashMap<>();

  /** @param ports maps a port that the client names to a port on this machine */
  PortForwardSession(WebSocketSession session, IntUnaryOperator ports) {
    this.session = session;
    this.ports = ports;
  }

  private static EmbeddedChannel codec() {
    return new EmbeddedChannel(new SpdyFrameCodec(SpdyVersion.SPDY_3_1));
  }

  Mono<Void> run() {
    var reading = session.receive().map(PortForwardSession::copied).concatMap(this::received, 1)
        .doFinally(_ -> answers.tryEmitComplete()).then();
    var writing = session.send(answers.asFlux().flatMap(frames -> frames, MAX_CONNECTIONS, 1)
        .takeUntilOther(reading.onErrorComplete()).concatMapIterable(this::encoded));
    return writing.doFinally(_ -> close());
  }

  private void close() {
    connections.values().forEach(connection -> connection.subscribe(Connection::dispose, _ -> {
    }));
    decoder.finishAndReleaseAll();
    encoder.finishAndReleaseAll();
  }

  private Iterable<WebSocketMessage> encoded(SpdyFrame frame) {
    encoder.writeOutbound(frame);
    var messages = new ArrayList<WebSocketMessage>();
    for (ByteBuf bytes = encoder.readOutbound(); bytes != null; bytes = encoder.readOutbound()) {
      var payload = session.bufferFactory().allocateBuffer(bytes.readableBytes());
      payload.write(bytes.nioBuffer());
      bytes.release();
      messages.add(new WebSocketMessage(WebSocketMessage.Type.BINARY, payload));
    }
    return messages;
  }

  /**
   * A copy of the message. The message itself is released when it was passed on, but its content
   * may be queued.
   */
  private static byte[] copied(WebSocketMessage message) {
    var bytes = new byte[message.getPayload().readableByteCount()];
    message.getPayload().read(bytes);
    return bytes;
  }

  private Mono<Void> received(byte[] bytes) {
    decoder.writeInbound(Unpooled.wrappedBuffer(bytes));
    var frames = new ArrayList<SpdyFrame>();
    for (SpdyFrame frame = decoder.readInbound(); frame != null; frame = decoder.readInbound()) {
      frames.add(frame);
    }
    return Flux.fromIterable(frames).concatMap(this::received).then();
  }

  private Mono<Void> received(SpdyFrame frame) {
    switch (frame) {
      case SpdySynStreamFrame stream -> opened(stream);
      case SpdyDataFrame data -> {
        return data(data);
      }
      case SpdyRstStreamFrame reset -> disconnect(reset.streamId());
      case SpdyPingFrame ping -> answer(Flux.just(new DefaultSpdyPingFrame(ping.id())));
      default -> ReferenceCountUtil.release(frame);
    }
    return Mono.empty();
  }

  private void answer(Flux<SpdyFrame> frames) {
    answers.tryEmitNext(frames);
  }

  private void opened(SpdySynStreamFrame stream) {
    var headers = stream.headers();
    int id = stream.streamId();
    var request = String.valueOf(headers.getAsString("requestid"));
    var reply = new DefaultSpdySynReplyFrame(id);
    // One header is set, because without headers Netty writes no header block, which the client's
    // library cannot read.
    reply.headers().set("status", "200");
    answer(Flux.just(reply));
    if (!"data".equals(headers.getAsString("streamtype"))) {
      errorStreams.put(request, id);
      return;
    }
    var errors = errorStreams.remove(request);
    int port = ports.applyAsInt(Integer.parseInt(headers.getAsString("port")));
    var connection = TcpClient.newConnection().host("127.0.0.1").port(port).connect()
        .cast(Connection.class).cache();
    connections.put(id, connection);
    var output = connection.flatMapMany(connected -> connected.inbound().receive()
        .<SpdyFrame>map(bytes -> new DefaultSpdyDataFrame(id, bytes.retain())));
    answer(output.concatWith(Flux.defer(() -> ended(errors, id, "")))
        .onErrorResume(e -> ended(errors, id, "error forwarding port " + port + ": "
            + e.getMessage())));
  }

  private static Flux<SpdyFrame> ended(@Nullable Integer errors, int id,
      String problem) {
    var frames = new ArrayList<SpdyFrame>();
    for (var stream : errors == null ? List.of(id) : List.of(errors, id)) {
      var last = new DefaultSpdyDataFrame(stream, Unpooled.copiedBuffer(
          stream == id ? "" : problem, StandardCharsets.UTF_8));
      last.setLast(true);
      frames.add(last);
    }
    return Flux.fromIterable(frames);
  }

  private Mono<Void> data(SpdyDataFrame data) {
    var connection = connections.get(data.streamId());
    if (connection == null) {
      data.release();
      return Mono.empty();
    }
    return connection.flatMap(connected -> connected.outbound()
        .send(Mono.just(data.content())).then()
        .then(Mono.fromRunnable(() -> {
          if (data.isLast() && connected.channel() instanceof DuplexChannel duplex) {
            duplex.shutdownOutput();
          }
        }))).then().onErrorComplete();
  }

  private void disconnect(int stream) {
    var connection = connections.remove(stream);
    if (connection != null) {
      connection.subscribe(Connection::dispose, _ -> {
      });
    }
  }
}
