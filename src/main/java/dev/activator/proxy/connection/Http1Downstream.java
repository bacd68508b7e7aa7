package dev.activator.proxy.connection;

import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.policy.Answer;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.field.Version;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What goes to the caller on an HTTP/1 connection: one response after another, until one is the
 * last.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> A write that fails ends the connection, of which the handler hears.
 */
// What cannot be written or closed ends the connection, and the handler hears of that.
@SuppressWarnings("FutureReturnValueIgnored")
final class Http1Downstream implements Downstream {
  /** So long a caller that still sends has to read the last response. */
  private static final Duration LINGER = Duration.ofMillis(500);

  private final Channel channel;
  private final Loop loop;
  private final Runnable whenEnded;
  private final Runnable whenSwitched;
  private final Responder responder;
  private final ReadGate gate;
  private @Nullable Upgraded upgraded;
  private boolean leaving;
  private boolean draining;
  private boolean closing;
  private boolean reading;
  private boolean unflushed;
  private boolean expecting;
  private boolean requestEnded = true;

  /**
   * Makes it for a connection.
   *
   * @param whenEnded run after each exchange that leaves the connection open
   * @param whenSwitched run when bytes that are no HTTP are to come from the caller
   */
  Http1Downstream(Channel channel, Loop loop, Runnable whenEnded, Runnable whenSwitched) {
    this.channel = channel;
    this.loop = loop;
    this.whenEnded = whenEnded;
    this.whenSwitched = whenSwitched;
    this.responder = new Responder(channel);
    this.gate = new ReadGate(channel.config());
  }

  // What the connection tells.

  /** Responses are to this request now. */
  void begin(HttpRequest request) {
    // A refused request may have more behind it, which must be read before the end.
    requestEnded = request instanceof LastHttpContent && request.decoderResult().isSuccess();
    expecting = HttpUtil.is100ContinueExpected(request);
    responder.begin(request);
    if (leaving) {
      responder.closeAfter();
    }
  }

  /** A part of the request's body has come. */
  void bodyCame(HttpContent part) {
    expecting = false;
    requestEnded = part instanceof LastHttpContent;
  }

  /** Whether all of the request has come. */
  boolean requestEnded() {
    return requestEnded;
  }

  /** Whether nothing more is served on this connection. */
  boolean closing() {
    return closing;
  }

  Version version() {
    return responder.version();
  }

  ReadGate gate() {
    return gate;
  }

  /** Says that another protocol follows. */
  void agree(HttpResponse head) {
    responder.interim(head);
    channel.flush();
  }

  /** Bytes are being read: flushing waits until all of them were handled. */
  void readBegins() {
    reading = true;
  }

  boolean isReading() {
    return reading;
  }

  void readEnds() {
    reading = false;
    flush();
  }

  /** The response to the next request is the last, and says so. */
  void closeAfterNext() {
    leaving = true;
  }

  /** The response under way, or else the next one, is the last. */
  void closeAfterThis() {
    leaving = true;
    draining = true;
    responder.closeAfter();
    if (upgraded != null) {
      upgraded.drain();
    }
  }

  // What exchanges tell.

  @Override
  public void interim(HttpResponse head) {
    if (head.status().equals(HttpResponseStatus.CONTINUE)) {
      expecting = false;
    }
    unflushed = true;
    responder.interim(head);
  }

  @Override
  public void head(HttpResponse head) {
    closeIfBodyMayNotCome();
    unflushed = true;
    responder.head(head);
  }

  @Override
  public void switched(HttpResponse head) {
    unflushed = true;
    requestEnded = true;
    var to = new Upgraded(channel, loop, responder.switched(head));
    whenSwitched.run();
    upgraded = to;
    if (draining) {
      to.drain();
    }
  }

  @Override
  public void content(HttpContent content) {
    unflushed = true;
    if (upgraded == null) {
      responder.content(content);
    } else {
      upgraded.write(content.content());
    }
  }

  @Override
  public void answer(Failure failure) {
    if (failure.endsConnection()) {
      responder.closeAfter();
    }
    answer(failure.answer());
  }

  @Override
  public void answer(Answer answer) {
    closeIfBodyMayNotCome();
    unflushed = true;
    responder.answer(answer);
  }

  /** A caller that was not told to go on sends its body or not: what comes next is not certain. */
  private void closeIfBodyMayNotCome() {
    if (expecting && !requestEnded) {
      responder.closeAfter();
    }
  }

  @Override
  public void ended() {
    gate.body(true);
    if (!responder.persistent()) {
      close();
    }
    whenEnded.run();
    flush();
  }

  @Override
  public void abort() {
    closing = true;
    if (responder.endsByClosing()) {
      // An orderly end would be the end of the body; a reset is none, unless TLS says goodbye first.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
      channel.pipeline().firstContext().close();
    } else {
      channel.flush();
      channel.close();
    }
    whenEnded.run();
  }

  @Override
  public void flush() {
    if (unflushed && !reading) {
      unflushed = false;
      channel.flush();
    }
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
  }

  @Override
  public void pauseReading() {
    gate.body(false);
  }

  @Override
  public void resumeReading() {
    gate.body(true);
  }

  /** Ends the connection after what was written. */
  void close() {
    if (closing) {
      return;
    }
    closing = true;
    gate.open();
    var written = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
    if (requestEnded) {
      written.addListener(ChannelFutureListener.CLOSE);
    } else {
      // Closing a socket with unread bytes resets it, and the caller may lose the response.
      written.addListener(_ -> ((DuplexChannel) channel).shutdownOutput());
      loop.schedule(LINGER, channel::close);
    }
  }

  /** The connection has ended. */
  void gone() {
    closing = true;
  }
}
