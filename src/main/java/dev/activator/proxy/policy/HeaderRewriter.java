package dev.activator.proxy.policy;

import dev.activator.http.HeaderName;
import dev.activator.http.HeaderFields;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites headers in place. Headers are removed first and added afterwards, so that a caller
 * cannot remove ours by naming them in {@code Connection}.
 *
 * <p><b>Source.</b> {@code activation handler.go} in Knative; {@code httputil.ReverseProxy} in Go;
 * RFC 9110, section 7.6.1; RFC 9112, section 6.3.
 */
public final class HeaderRewriter {
  private static final String CHUNKED = "chunked";
  private static final HeaderName[] HOP_BY_HOP = {HeaderName.CONNECTION,
      HeaderName.PROXY_CONNECTION,
      HeaderName.KEEP_ALIVE, HeaderName.PROXY_AUTHENTICATE, HeaderName.PROXY_AUTHORIZATION,
      HeaderName.TE,
      HeaderName.TRANSFER_ENCODING, HeaderName.UPGRADE};

  public enum BodyEnd {
    /** The length is known, or there is no body. */
    LENGTH,
    CHUNK,
    /** The end of the connection, for callers without chunks. */
    CLOSE,
    STREAM
  }

  private HeaderRewriter() {}

  public static void request(HeaderFields fields, RequestVersion version, String host,
      String peer) {
    boolean chunked = fields.has(HeaderName.TRANSFER_ENCODING);
    boolean trailers = fields.has(HeaderName.TE) && fields.hasToken(HeaderName.TE, "trailers");
    String upgrade = ProtocolUpgrade.wanted(version, fields);
    removeHopByHop(fields);
    fields.remove(HeaderName.TRAILER);
    fields.remove(HeaderName.REVISION);
    fields.remove(HeaderName.REVISION_NAMESPACE);
    fields.remove(HeaderName.NETWORK_HASH);
    if (version == RequestVersion.HTTP_1_0) {
      // RFC 9110, section 10.1.1: servers must ignore it in HTTP/1.0.
      fields.remove(HeaderName.EXPECT);
    }
    if (chunked) {
      fields.set(HeaderName.TRANSFER_ENCODING, CHUNKED);
    }
    if (trailers) {
      fields.set(HeaderName.TE, "trailers");
    }
    if (upgrade != null) {
      ProtocolUpgrade.put(fields, upgrade);
    }
    if (fields.text(HeaderName.ORIGINAL_HOST).isEmpty()) {
      fields.set(HeaderName.ORIGINAL_HOST, host);
    }
    fields.set(HeaderName.PROXY_REQUEST, "activator");
    fields.set(HeaderName.FORWARDED_FOR, forwardedFor(fields, peer));
  }

  private static String forwardedFor(HeaderFields fields, String peer) {
    return fields.has(HeaderName.FORWARDED_FOR)
        ? String.join(", ", fields.all(HeaderName.FORWARDED_FOR)) + ", " + peer
        : peer;
  }

  /** @param service that a mesh routes by; null where pods are reached directly */
  public static void address(HeaderFields fields, String authority, @Nullable String service) {
    if (service == null) {
      fields.set(HeaderName.HOST, authority);
    } else {
      fields.set(HeaderName.HOST, service);
      fields.set(HeaderName.PASSTHROUGH, "true");
    }
  }

  /** Sets the headers for a container without queue-proxy. */
  public static void addressContainer(HeaderFields fields) {
    String host = fields.first(HeaderName.ORIGINAL_HOST);
    if (host != null) {
      fields.set(HeaderName.HOST, host);
      fields.remove(HeaderName.ORIGINAL_HOST);
    }
  }

  /** @param bodyless for a HEAD, 204 or 304 */
  public static BodyEnd response(HeaderFields fields, RequestVersion caller, boolean bodyless) {
    removeHopByHop(fields);
    if (caller == RequestVersion.HTTP_2) {
      return BodyEnd.STREAM;
    }
    if (bodyless || fields.has(HeaderName.CONTENT_LENGTH)) {
      fields.remove(HeaderName.TRAILER);
      return BodyEnd.LENGTH;
    }
    if (caller == RequestVersion.HTTP_1_0) {
      fields.remove(HeaderName.TRAILER);
      return BodyEnd.CLOSE;
    }
    fields.set(HeaderName.TRANSFER_ENCODING, CHUNKED);
    return BodyEnd.CHUNK;
  }

  /**
   * Keeps {@code Trailer}, and the length and an expectation even if {@code Connection} names them: the body would be
   * read as another message, or never be sent.
   */
  private static void removeHopByHop(HeaderFields fields) {
    String options = fields.first(HeaderName.CONNECTION);
    boolean usual = HeaderName.KEEP_ALIVE.text().equalsIgnoreCase(options)
        && !fields.isRepeated(HeaderName.CONNECTION);
    if (options != null && !usual) {
      removeNamed(fields);
    }
    for (var field : HOP_BY_HOP) {
      fields.remove(field);
    }
  }

  private static void removeNamed(HeaderFields fields) {
    var named = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    HeaderFields.eachToken(fields.all(HeaderName.CONNECTION), named::add);
    named.remove(HeaderName.CONTENT_LENGTH.text());
    named.remove(HeaderName.EXPECT.text());
    fields.removeAll(named);
  }
}
