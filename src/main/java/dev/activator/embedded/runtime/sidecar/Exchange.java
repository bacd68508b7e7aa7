package dev.activator.embedded.runtime.sidecar;

import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response. Each side is read one part at a time, and the next part only once
 * the last one was written: that is all the back-pressure there is.
 *
 * <p>
 * <b>Threads.</b> Those of the sidecar's loop.
 *
 * <p>
 * <b>Errors.</b> A process that does not answer is a 502; one that stops in the middle of a
 * response aborts it. A request is sent a second time only if nothing of a body was sent, it may be
 * repeated, and it was written to a connection that was used before and answered nothing.
 */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class Exchange {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);
  private static final Set<HttpMethod> REPEATABLE = Set.of(HttpMethod.GET, HttpMethod.HEAD,
      HttpMethod.OPTIONS);

  /** Where its turn at the process stands. */
  private enum Turn {
    NONE, WAITING, RUNNING, OVER
  }

  private final Sidecar sidecar;
  private final CallerHandler caller;
  private final HttpRequest request;
  private final boolean asksForUpgrade;
  private final Runnable granted = this::granted;
  private Turn turn = Turn.NONE;
  private @Nullable ProcessHandler process;
  private @Nullable HttpContent waitingPart;
  private boolean requestEnded;
  private boolean headSent;
  private boolean bodySent;
  private boolean responseStarted;
  private boolean responseEnded;
  private boolean betweenInformational;
  private boolean reused;
  private boolean reusable;

  Exchange(Sidecar sidecar, CallerHandler caller, HttpRequest request) {
    this.sidecar = sidecar;
    this.caller = caller;
    this.request = request;
    this.requestEnded = request instanceof LastHttpContent;
    this.asksForUpgrade = Headers.upgrade(request.headers()) != null;
  }

  /** Sends it to the process when it is its turn. */
  void forward() {
    turn = Turn.WAITING;
    sidecar.began();
    if (!sidecar.slots().take(granted)) {
      answer(Answers.error(503, "pending request queue full"));
    }
  }

  /** The answer comes later, and the process has no part in it. */
  void waitForAnswer() {
    caller.read();
  }

  /** Gives this answer, without the process, unless another was given. */
  void answer(FullHttpResponse response) {
    if (responseEnded) {
      response.release();
      return;
    }
    responseStarted = true;
    caller.write(response);
    end();
  }

  /** The next part of the request's body. */
  void body(HttpContent part) {
    requestEnded = requestEnded || part instanceof LastHttpContent;
    if (responseEnded) {
      part.release();
      proceed();
    } else if (turn == Turn.NONE) {
      part.release();
      caller.read();
    } else if (process == null) {
      // A used connection was lost meanwhile, and a new one is being opened.
      waitingPart = part;
    } else {
      send(process, part);
    }
  }

  /** The next part of the response. */
  void answered(HttpObject part) {
    if (part.decoderResult().isFailure()) {
      ReferenceCountUtil.release(part);
      close(process);
    } else if (part instanceof HttpResponse head
        && head.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
      informational(head);
    } else if (betweenInformational) {
      betweenInformational = false;
      ReferenceCountUtil.release(part);
      readOn();
    } else {
      respond(part);
    }
  }

  /** The process ended the connection. */
  void processGone() {
    process = null;
    if (responseEnded) {
      return;
    }
    if (responseStarted) {
      log.debug("{} ended in the middle of a response", sidecar);
      caller.abort();
    } else if (reused && !bodySent && REPEATABLE.contains(request.method())) {
      connect();
    } else {
      failed("connection closed");
    }
  }

  /** The caller went away. */
  void callerGone() {
    if (!responseEnded) {
      responseEnded = true;
      close(process);
      release();
    }
  }

  private void granted() {
    turn = Turn.RUNNING;
    Headers.forProcess(request, caller.peer());
    var idle = caller.http2() ? null : sidecar.connections().reuse();
    if (idle == null) {
      connect();
    } else {
      reused = true;
      send(idle);
    }
  }

  private void connect() {
    reused = false;
    if (caller.http2()) {
      sidecar.connections().openStream(this::send, this::failed);
    } else {
      sidecar.connections().open(this::send, this::failed);
    }
  }

  private void send(ProcessHandler connection) {
    if (responseEnded) {
      connection.close();
      return;
    }
    process = connection;
    connection.attach(this);
    connection.read();
    boolean again = headSent;
    headSent = true;
    whenWritten(connection.write(request), () -> {
      if (!again) {
        caller.read();
      }
    });
    if (waitingPart != null) {
      var part = waitingPart;
      waitingPart = null;
      send(connection, part);
    } else if (again && requestEnded) {
      connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  private void send(ProcessHandler connection, HttpContent part) {
    // After the last part one more is read, to notice a caller that goes away. Not before an
    // upgrade: what comes then is not HTTP.
    boolean readOn = !(part instanceof LastHttpContent && asksForUpgrade);
    bodySent = bodySent || part.content().isReadable();
    whenWritten(connection.write(part), () -> {
      if (readOn) {
        caller.read();
      }
    });
  }

  private void failed(Throwable cause) {
    failed(String.valueOf(cause.getMessage()));
  }

  private void failed(String reason) {
    log.debug("{} does not answer: {}", sidecar, reason);
    answer(Answers.error(502, "the process does not answer"));
  }

  private void informational(HttpResponse head) {
    if (asksForUpgrade && head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      switchProtocols(head);
      return;
    }
    betweenInformational = !(head instanceof LastHttpContent);
    var copy = new DefaultFullHttpResponse(head.protocolVersion(), head.status());
    copy.headers().set(head.headers());
    ReferenceCountUtil.release(head);
    whenWritten(caller.write(copy), this::readOn);
  }

  private void switchProtocols(HttpResponse head) {
    var connection = process;
    if (connection != null) {
      responseEnded = true;
      caller.write(head);
      Splice.join(caller.channel(), connection.channel());
      caller.channel().closeFuture().addListener(closed -> release());
    }
  }

  private void respond(HttpObject part) {
    if (part instanceof HttpResponse head) {
      respondHead(head);
    }
    // Asked before it is written, which may release it.
    boolean last = part instanceof LastHttpContent;
    var written = caller.write(part);
    if (last) {
      end();
    } else {
      whenWritten(written, this::readOn);
    }
  }

  private void respondHead(HttpResponse head) {
    responseStarted = true;
    boolean bodyAllowed = !request.method().equals(HttpMethod.HEAD) && head.status().code() != 204
        && head.status().code() != 304;
    boolean framed = head.headers().contains("Content-Length")
        || HttpUtil.isTransferEncodingChunked(head);
    reusable = HttpUtil.isKeepAlive(head) && (framed || !bodyAllowed);
    Headers.forCaller(head, request.protocolVersion(), bodyAllowed);
  }

  private void end() {
    responseEnded = true;
    var connection = process;
    process = null;
    if (connection != null && !caller.http2() && reusable && requestEnded) {
      sidecar.connections().giveBack(connection);
    } else if (connection != null && !(caller.http2() && requestEnded)) {
      connection.close();
    }
    release();
    proceed();
  }

  /** What is left of the request is read and dropped, then it is the next one's turn. */
  private void proceed() {
    if (requestEnded && responseEnded) {
      caller.ended(this);
    } else {
      caller.read();
    }
  }

  private void release() {
    ReferenceCountUtil.release(waitingPart);
    waitingPart = null;
    if (!headSent) {
      ReferenceCountUtil.release(request);
    }
    var before = turn;
    turn = Turn.OVER;
    if (before == Turn.RUNNING) {
      sidecar.slots().giveBack();
    } else if (before == Turn.WAITING) {
      sidecar.slots().abandon(granted);
    }
    if (before == Turn.RUNNING || before == Turn.WAITING) {
      sidecar.ended();
    }
  }

  private void readOn() {
    if (process != null) {
      process.read();
    }
  }

  private static void whenWritten(ChannelFuture write, Runnable next) {
    write.addListener((ChannelFuture written) -> {
      if (written.isSuccess()) {
        next.run();
      } else {
        // Closing says it to whoever has to know: the handlers see their channels end.
        written.channel().close();
      }
    });
  }

  private static void close(@Nullable ProcessHandler connection) {
    if (connection != null) {
      connection.close();
    }
  }
}
