package dev.activator.ext.admit;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.activator.ext.admit.GatewayAdmitRequest.Convention;
import dev.activator.ext.admit.GatewayAdmitRequest.OriginalRequest;
import dev.activator.ext.admit.GatewayAdmitRequest.Unclear;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A gateway's question, as the caller of the original request's exchange. The gateway gets the answer in
 * the form that its question has: over HTTP, or over gRPC as of Envoy's external authorization.
 *
 * <p><b>Threads.</b> The dispatcher's loop.
 */
final class GatewayQuestion implements Downstream {
  private final Downstream gateway;
  private final boolean overGrpc;
  /**
   * The bytes for which a large original request is counted as held; 0 for a small one, and over HTTP, where
   * the question itself is counted.
   */
  private int heldBytes;

  private GatewayQuestion(Downstream gateway, boolean overGrpc) {
    this.gateway = gateway;
    this.overGrpc = overGrpc;
  }

  /** @param timeout how long a question may take to arrive */
  static void answer(HttpRequest question, Downstream gateway, RequestDispatcher on,
      Duration timeout) {
    var uri = question.uri();
    if (!uri.equals(ExtAuthzCodec.PATH)) {
      new GatewayQuestion(gateway, false).answer(Convention.of(uri), question, on);
    } else if (ExtAuthzCodec.isGrpc(question)) {
      gateway.readBody(new CheckReader(new GatewayQuestion(gateway, true), on, timeout));
    } else {
      refuse(gateway, 415, "this path takes application/grpc over HTTP/2");
    }
  }

  private static void refuse(Downstream caller, int status, String why) {
    caller.answer(LocalResponse.error(status, why));
    caller.ended();
  }

  private void answer(@Nullable Convention by, HttpRequest question, RequestDispatcher on) {
    if (by == null) {
      refuse(gateway, 404, "a gateway sends its questions to " + List.of(Convention.values())
          + " over HTTP, and at " + ExtAuthzCodec.PATH + " over gRPC");
    } else {
      answer(by, question.method().name(), question.uri(), question.headers()::get,
          question.headers().entries(), on);
    }
  }

  private void answer(Convention by, String method, String target,
      UnaryOperator<@Nullable String> header, Iterable<Map.Entry<String, String>> headers,
      RequestDispatcher on) {
    switch (GatewayAdmitRequest.of(by, method, target, header)) {
      case Unclear(var problem) -> refuse(this, 400, problem);
      case OriginalRequest(var name, var host, var path) -> {
        var original = RequestDispatcher.original(name, host, path, headers);
        if (overGrpc) {
          heldBytes = on.holdLargeHead(original, Integer.MAX_VALUE);
        }
        on.answerGateway(original, this);
      }
    }
  }

  /**
   * Sends the answer. A gateway takes every 2xx over HTTP as "yes", so any other answer with that
   * status becomes a 503.
   */
  @Override
  public void answer(LocalResponse answer) {
    if (overGrpc) {
      gateway.head(ExtAuthzCodec.head());
      gateway.content(ExtAuthzCodec.body(answer));
    } else {
      gateway.answer(answer.status() / 100 != 2 || ExtAuthzCodec.isAdmitted(answer)
          ? answer
          : new LocalResponse(503, answer.headers(), answer.body()));
    }
  }

  /**
   * Reads the message of a question over gRPC. While it is incomplete, it has the limits of time and
   * memory of an incomplete head.
   */
  private static final class CheckReader implements BodyReader {
    /** The maximum size of a message. It contains the headers of the original request. */
    private static final int MAX_MESSAGE = 256 << 10;

    private final GatewayQuestion question;
    private final RequestDispatcher on;
    private final HeldRequestBytes.PartialHead partial;
    private final ResettableTimer timer;
    private final ByteArrayOutputStream message = new ByteArrayOutputStream();
    private boolean over;

    CheckReader(GatewayQuestion question, RequestDispatcher on, Duration timeout) {
      this.question = question;
      this.on = on;
      this.partial = on.held().partialHead(() -> refuse(RequestFailure.headTooLarge().answer()));
      this.timer = new ResettableTimer(on.loop(),
          () -> refuse(LocalResponse.error(408, "the question did not come in time")));
      timer.within(timeout);
    }

    @Override
    public void content(HttpContent part) {
      if (!over) {
        message.writeBytes(ByteBufUtil.getBytes(part.content()));
        read(part instanceof LastHttpContent);
      }
      part.release();
    }

    private void read(boolean isComplete) {
      if (message.size() > MAX_MESSAGE) {
        refuse(malformed("it is longer than " + MAX_MESSAGE + " bytes"));
      } else if (isComplete) {
        decode();
      } else {
        partial.grew(HeldRequestBytes.ofHead(message.size(), 0));
      }
    }

    private void decode() {
      try {
        var original = ExtAuthzCodec.decode(message.toByteArray());
        complete();
        question.answer(Convention.HOST, original.getMethod(), Convention.HOST + original.getPath(),
            name -> "Host".equals(name) ? original.getHost() : null,
            original.getHeadersMap().entrySet().stream()
                .filter(header -> !header.getKey().startsWith(":")).toList(),
            on);
      } catch (InvalidProtocolBufferException e) {
        refuse(malformed(e.getMessage()));
      }
    }

    private static LocalResponse malformed(@Nullable String why) {
      return LocalResponse.error(400, "malformed question: " + why);
    }

    private void refuse(LocalResponse answer) {
      complete();
      question.answer(answer);
      question.ended();
    }

    private void complete() {
      over = true;
      timer.cancel();
      partial.ended();
      message.reset();
    }

    @Override
    public void closed() {
      complete();
      on.releaseHead(question.heldBytes);
    }
  }

  @Override
  public Caller caller() {
    return gateway.caller();
  }

  @Override
  public void begin(Exchange exchange) {
    gateway.begin(exchange);
  }

  @Override
  public void checkAt(long dueNanos) {
    gateway.checkAt(dueNanos);
  }

  @Override
  public void ended() {
    gateway.ended();
  }

  @Override
  public void abort() {
    gateway.abort();
  }

  @Override
  public void interim(HttpResponse head) {
    throw new IllegalStateException("nothing is forwarded here");
  }

  @Override
  public void head(HttpResponse head) {
    throw new IllegalStateException("nothing is forwarded here");
  }

  @Override
  public void content(HttpContent content) {
    throw new IllegalStateException("nothing is forwarded here");
  }

  @Override
  public void drainWithin(long nanos) {
    gateway.drainWithin(nanos);
  }

  @Override
  public void flush() {
    gateway.flush();
  }

  @Override
  public boolean isWritable() {
    return gateway.isWritable();
  }

  @Override
  public void pauseReading() {
    gateway.pauseReading();
  }

  @Override
  public void resumeReading() {
    gateway.resumeReading();
  }
}
