package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.revision.PortProtocol;

/**
 * Chooses the protocol in which a pod gets a request. A queue-proxy serves both and gets that of
 * the caller. A container gets that of its port. Two kinds cannot be translated: gRPC always
 * gets HTTP/2, and an upgrade HTTP/1.
 *
 * <p><b>Source.</b> {@code NewProxyAutoTransport} in Knative networking's {@code transports.go}.
 */
public final class PodProtocol {
  private static final String GRPC = "application/grpc";

  private PodProtocol() {}

  /**
   * @param port the protocol of the pod's port
   * @param fields those that the pod gets
   */
  public static PortProtocol of(boolean callerInHttp2, boolean hasQueueProxy, PortProtocol port,
      HeaderFieldList fields) {
    var caller = callerInHttp2 ? PortProtocol.H2C : PortProtocol.HTTP1;
    boolean untranslatable = callerInHttp2
        ? isGrpc(fields)
        : fields.has(KnownHeader.UPGRADE);
    return hasQueueProxy || untranslatable ? caller : port;
  }

  /** Whether the request is gRPC; gRPC-Web, which HTTP/1 can carry, is not. */
  public static boolean isGrpc(HeaderFieldList fields) {
    String type = fields.text(KnownHeader.CONTENT_TYPE);
    return type.startsWith(GRPC) && (type.length() == GRPC.length()
        || type.charAt(GRPC.length()) == '+' || type.charAt(GRPC.length()) == ';');
  }
}
