package dev.activator.upstream;

import dev.activator.tls.PodTls.UntrustedPodException;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.util.Locale;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Why a pod gave no answer, or only part of one. */
public enum UpstreamFailure {
  REFUSED("connection refused"),
  NO_ROUTE("no route to the pod"),
  TIMED_OUT("timed out connecting"),
  UNTRUSTED("the pod's certificate is not trusted"),
  UNKNOWN_ISSUER("the pod's certificate is not trusted: its issuer is unknown"),
  WRONG_NAME("the pod's certificate is not trusted: it is for another name"),
  EXPIRED("the pod's certificate is not trusted: it has expired, or is not valid yet"),
  TLS_FAILED("TLS with the pod failed"),
  NO_TLS("TLS with the pod failed: it does not speak TLS"),
  RESET("connection reset"),
  CLOSED("connection closed before the response ended"),
  MALFORMED("malformed response"),
  NOT_PROCESSED("the pod did not process the request"),
  CANCELLED("the pod cancelled the request"),
  INTERNAL_ERROR("the pod reset the stream: INTERNAL_ERROR"),
  PROTOCOL_ERROR("the pod reset the stream: PROTOCOL_ERROR"),
  FLOW_CONTROL_ERROR("the pod reset the stream: FLOW_CONTROL_ERROR"),
  STREAM_RESET("the pod reset the stream"),
  /** The request may have caused the error: it is the last one that the pod has seen. */
  CONNECTION_ERROR("the pod reported an error of the connection"),
  UNRESPONSIVE("the pod stopped responding"),
  BROKEN("connection failed"),
  /** The port of the Service lacks the name {@code h2c} or the {@code appProtocol}. */
  NO_HTTP1("the pod answered in HTTP/2, but its port is configured for HTTP/1.1"),
  /** The pod answered in another protocol. */
  NO_HTTP2("the pod does not speak HTTP/2"),
  /** The pod never sends SETTINGS. */
  NO_SETTINGS("the pod does not answer in HTTP/2"),
  /** The activator has no memory left for buffers. */
  NO_MEMORY("out of memory for buffers");

  private final String text;

  UpstreamFailure(String text) {
    this.text = text;
  }

  /** A text for callers, without an address. */
  public String text() {
    return text;
  }

  /** Whether there was no connection, so that the pod has received nothing of the request. */
  public boolean isBeforeConnection() {
    return this == REFUSED || this == NO_ROUTE || this == TIMED_OUT;
  }

  /** Whether the pod has reset the stream, and may have processed the request. */
  public boolean isResetOfStream() {
    return switch (this) {
      case CANCELLED, INTERNAL_ERROR, PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_RESET -> true;
      default -> false;
    };
  }

  /** Whether this is the text of a failed handshake of TLS. */
  public static boolean isOfHandshake(String text) {
    return Stream.of(values()).anyMatch(one -> one.isOfHandshake() && one.text.equals(text));
  }

  /** Whether the pod was reached, and the handshake of TLS has failed. */
  boolean isOfHandshake() {
    return switch (this) {
      case UNTRUSTED, UNKNOWN_ISSUER, WRONG_NAME, EXPIRED, TLS_FAILED, NO_TLS -> true;
      default -> false;
    };
  }

  /** @param code the error code of a RST_STREAM */
  static UpstreamFailure ofReset(long code) {
    return switch (Http2Error.valueOf(code)) {
      case REFUSED_STREAM -> NOT_PROCESSED;
      case CANCEL -> CANCELLED;
      case INTERNAL_ERROR -> INTERNAL_ERROR;
      case PROTOCOL_ERROR -> PROTOCOL_ERROR;
      case FLOW_CONTROL_ERROR -> FLOW_CONTROL_ERROR;
      case null, default -> STREAM_RESET;
    };
  }

  /** @param cause null if the pod closed the connection without an error */
  public static UpstreamFailure of(@Nullable Throwable cause) {
    return switch (cause) {
      case null -> CLOSED;
      case OutOfMemoryError _ -> NO_MEMORY;
      case CodecException coding when coding.getCause() instanceof OutOfMemoryError -> NO_MEMORY;
      case ConnectTimeoutException _ -> TIMED_OUT;
      case SslHandshakeTimeoutException _ -> TIMED_OUT;
      case SSLException tls when says(tls, "no_application_protocol") -> NO_HTTP2;
      case NotSslRecordException _ -> NO_TLS;
      case SSLException tls -> ofHandshake(tls);
      case ChannelOutputShutdownException write when write.getCause() != null ->
        of(write.getCause());
      case NoRouteToHostException _ -> NO_ROUTE;
      case ConnectException refused when says(refused, "refused") -> REFUSED;
      case ConnectException _ -> NO_ROUTE;
      case IOException reset when says(reset, "reset") || says(reset, "broken pipe") -> RESET;
      case IOException silent when says(silent, "timed out") -> UNRESPONSIVE;
      default -> BROKEN;
    };
  }

  /**
   * Whether the response may still be read after a failed write. A pod that answers before it has
   * read the body often resets the connection. A write then fails while the kernel still holds the
   * response, so Netty must not close the channel; it is closed at the end of the input.
   *
   * @param first the first failure of the connection
   */
  public static boolean leavesInput(Throwable cause, UpstreamFailure first) {
    return first == RESET
        && (cause instanceof ChannelOutputShutdownException
            || cause instanceof ClosedChannelException);
  }

  private static UpstreamFailure ofHandshake(SSLException failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof CertificateException)) {
      cause = cause.getCause();
    }
    return switch (cause) {
      case null -> TLS_FAILED;
      case UntrustedPodException untrusted -> switch (untrusted.reason()) {
        case UNKNOWN_ISSUER -> UNKNOWN_ISSUER;
        case WRONG_NAME -> WRONG_NAME;
        case EXPIRED -> EXPIRED;
      };
      default -> UNTRUSTED;
    };
  }

  private static boolean says(IOException failure, String words) {
    String message = failure.getMessage();
    return message != null && message.toLowerCase(Locale.ROOT).contains(words);
  }
}
