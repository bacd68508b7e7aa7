package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.throttle.PodChoice;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The caller's connection, or one stream of it.
 *
 * <p><b>Errors.</b> None: when the caller is gone the exchange is notified, and writes are dropped.
 */
public interface Downstream {
  /** @param address may be empty */
  record Caller(String address, int port, boolean secure) {
    public static Caller of(Channel connection) {
      boolean secure = connection.pipeline().get(SslHandler.class) != null;
      return connection.remoteAddress() instanceof InetSocketAddress peer
          ? new Caller(NetUtil.toAddressString(peer.getAddress()), peer.getPort(), secure)
          : new Caller("", 0, secure);
    }
  }

  Caller caller();

  /** Whether the head is the whole request; known in HTTP/2 only. */
  default boolean isBodyless() {
    return false;
  }

  /**
   * The pods that the request may run on.
   *
   * @param ofRevision what its revision chooses; null if the balancer chooses
   */
  default @Nullable PodChoice choice(@Nullable PodChoice ofRevision) {
    return ofRevision;
  }

  /** Gets what is read of a body while its request has no exchange. */
  interface BodyReader {
    /** Must release it. */
    void content(HttpContent part);

    /** The last call, after the answer or without one. */
    void closed();
  }

  /** Passes parts of the body to this while there is no exchange, instead of dropping them; in HTTP/2 only. */
  default void readBody(BodyReader reader) {
    throw new UnsupportedOperationException("in HTTP/2 only");
  }

  /** Ends with {@link #ended} or {@link #abort}. */
  void begin(Exchange exchange);

  /** Checks the exchange's deadlines at this time of the loop, or earlier. */
  void checkAt(long dueNanos);

  /** Passes a 1xx response on, if the caller's version has them. */
  void interim(HttpResponse head);

  /**
   * The pod's response, whose headers are rewritten here. After a 101 both bodies are bytes of
   * another protocol.
   */
  void head(HttpResponse head);

  /** A part of the body; a {@code LastHttpContent} ends the response. */
  void content(HttpContent content);

  /** Sends a response of the activator. Call only before a response has begun. */
  void answer(LocalResponse answer);

  default void answer(RequestFailure failure, ErrorFormat format) {
    answer(failure.answer(format));
  }

  /** Cuts a response off so that the caller cannot take it for complete. */
  void abort();

  /** The same, with the reason if the response can still have one. */
  default void abort(RequestFailure failure) {
    abort();
  }

  /** Closes an upgraded connection with a close code, if its protocol has one. */
  default void goAway() {}

  /** Ends the output of an upgraded connection behind what was written; the caller may still send. */
  default void endOutput() {}

  /** How long a caller may read nothing while bytes of the response wait, from now on. */
  void drainWithin(long nanos);

  /** The exchange has ended, so the next one may begin. */
  void ended();

  void flush();

  boolean isWritable();

  /** Whether the connection has not taken all that was written, as the caller reads slowly. */
  default boolean hasUnsent() {
    return !isWritable();
  }

  /**
   * Whether the caller has read in this time, though bytes wait in its socket: the kernel takes more of them only when the
   * caller has read a large part of what it holds.
   */
  default boolean hasRead(long nanos) {
    return false;
  }

  void pauseReading();

  void resumeReading();
}
