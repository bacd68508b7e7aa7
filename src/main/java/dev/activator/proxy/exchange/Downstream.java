package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.LocalResponse;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;

/**
 * The caller's side of one exchange at a time: a connection, or one stream of it.
 *
 * <p>
 * <b>Errors.</b> None: when the caller goes away the exchange is told, and further writes are dropped.
 */
public interface Downstream {
  /**
   * The other end of the connection.
   *
   * @param address its IP address; empty if it has none
   * @param port its port; 0 if it has none
   * @param secure whether it speaks TLS
   */
  record Caller(String address, int port, boolean secure) {
    public static Caller of(Channel connection) {
      boolean secure = connection.pipeline().get(SslHandler.class) != null;
      return connection.remoteAddress() instanceof InetSocketAddress peer
          ? new Caller(peer.getAddress().getHostAddress(), peer.getPort(), secure)
          : new Caller("", 0, secure);
    }
  }

  Caller caller();

  /** This exchange begins; it ends with {@link #ended} or {@link #abort}. */
  void begin(Exchange exchange);

  /** Calls {@link Exchange#checkDeadlines} after this time, or before. */
  void checkWithin(long nanos);

  /** Passes a 1xx response on, if the caller understands it. */
  void interim(HttpResponse head);

  /**
   * Begins the response with a pod's, whose headers are rewritten here. After a 101 the parts of both
   * bodies are bytes of another protocol.
   */
  void head(HttpResponse head);

  /** Passes a part of the body on; a {@code LastHttpContent} ends the response. */
  void content(HttpContent content);

  /** Responds with an answer of ours; no response may have begun. */
  void answer(LocalResponse answer);

  /** Responds with what a failure looks like; no response may have begun. */
  default void answer(Failure failure) {
    answer(failure.answer());
  }

  /** Breaks a response off in a way that cannot be taken for its end. */
  void abort();

  /** How long the caller may take nothing of what is still unsent once the response is complete. */
  void drainWithin(long nanos);

  /** The exchange is over, and the next may begin. */
  void ended();

  void flush();

  /** Whether more may be written without piling up. */
  boolean isWritable();

  /** Stops reading the request's body. */
  void pauseReading();

  void resumeReading();
}
