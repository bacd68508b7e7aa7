package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites the headers of requests and responses in place. It removes headers before it adds ours,
 * so that a caller cannot remove ours by naming them in {@code Connection}.
 *
 * <p><b>Source.</b> {@code activation handler.go} in Knative; {@code httputil.ReverseProxy} in Go;
 * RFC 9110, section 7.6.1; RFC 9112, section 6.3.
 */
public final class HeaderRewriter {
  private static final String CHUNKED = "chunked";
  private static final KnownHeader[] HOP_BY_HOP = {KnownHeader.CONNECTION,
      KnownHeader.PROXY_CONNECTION,
      KnownHeader.KEEP_ALIVE, KnownHeader.PROXY_AUTHENTICATE, KnownHeader.PROXY_AUTHORIZATION,
      KnownHeader.TE,
      KnownHeader.TRANSFER_ENCODING, KnownHeader.UPGRADE};

  public enum BodyEnd {
    /** The length is known, or there is no body. */
    LENGTH,
    CHUNK,
    /** The end of the connection, for callers that do not understand chunks. */
    CLOSE,
    STREAM
  }

  private HeaderRewriter() {}

  public static void request(HeaderFieldList fields, RequestVersion version, String host,
      String peer) {
    boolean chunked = fields.has(KnownHeader.TRANSFER_ENCODING);
    boolean trailers = fields.has(KnownHeader.TE) && fields.hasToken(KnownHeader.TE, "trailers");
    String upgrade = UpgradeNegotiation.wanted(version, fields);
    removeHopByHop(fields);
    fields.remove(KnownHeader.HTTP2_SETTINGS);
    if (!chunked && version != RequestVersion.HTTP_2) {
      // No trailers can follow. Where they can, Go's servers drop those that are not announced.
      fields.remove(KnownHeader.TRAILER);
    }
    fields.remove(KnownHeader.REVISION);
    fields.remove(KnownHeader.REVISION_NAMESPACE);
    fields.remove(KnownHeader.NETWORK_HASH);
    if (version == RequestVersion.HTTP_1_0) {
      // RFC 9110, section 10.1.1: servers must ignore it in HTTP/1.0.
      fields.remove(KnownHeader.EXPECT);
    }
    if (chunked) {
      fields.set(KnownHeader.TRANSFER_ENCODING, CHUNKED);
    }
    if (trailers) {
      fields.set(KnownHeader.TE, "trailers");
    }
    if (upgrade != null) {
      UpgradeNegotiation.put(fields, upgrade);
    }
    if (fields.text(KnownHeader.ORIGINAL_HOST).isEmpty()) {
      fields.set(KnownHeader.ORIGINAL_HOST, host);
    }
    fields.set(KnownHeader.PROXY_REQUEST, "activator");
    fields.set(KnownHeader.FORWARDED_FOR, forwardedFor(fields, peer));
  }

  private static String forwardedFor(HeaderFieldList fields, String peer) {
    return fields.has(KnownHeader.FORWARDED_FOR)
        ? String.join(", ", fields.all(KnownHeader.FORWARDED_FOR)) + ", " + peer
        : peer;
  }

  /**
   * Sets {@code Host}, which should be the first field (RFC 9110, section 7.2).
   *
   * @param service the Service that a mesh routes by; null where pods are reached directly
   */
  public static void address(HeaderFieldList fields, String authority, @Nullable String service) {
    if (service == null) {
      fields.setFirst(KnownHeader.HOST, authority);
    } else {
      fields.setFirst(KnownHeader.HOST, service);
      fields.set(KnownHeader.PASSTHROUGH, "true");
    }
  }

  /** Of a container without queue-proxy. */
  public static void addressContainer(HeaderFieldList fields) {
    String host = fields.first(KnownHeader.ORIGINAL_HOST);
    if (host != null) {
      fields.setFirst(KnownHeader.HOST, host);
      fields.remove(KnownHeader.ORIGINAL_HOST);
    }
  }

  /** Sets the framing in HTTP/1 of a request that came in HTTP/2. */
  public static void frame(HeaderFieldList fields, String method, boolean bodyless) {
    if (fields.has(KnownHeader.CONTENT_LENGTH)) {
      return;
    }
    if (!bodyless) {
      fields.set(KnownHeader.TRANSFER_ENCODING, CHUNKED);
    } else if (method.equals("POST") || method.equals("PUT") || method.equals("PATCH")) {
      fields.set(KnownHeader.CONTENT_LENGTH, "0");
    }
  }

  /** Removes from a 1xx response what is about the connection, a length and trailers; RFC 9110, sections 7.6.1 and 8.6. */
  public static void interim(HeaderFieldList fields) {
    removeHopByHop(fields);
    fields.remove(KnownHeader.CONTENT_LENGTH);
    fields.remove(KnownHeader.TRAILER);
  }

  /** @param bodyless whether the response has no body, as that of a HEAD, a 204 or a 304 */
  public static BodyEnd response(HeaderFieldList fields, RequestVersion caller, boolean bodyless) {
    removeHopByHop(fields);
    if (caller == RequestVersion.HTTP_2) {
      return BodyEnd.STREAM;
    }
    if (bodyless || fields.has(KnownHeader.CONTENT_LENGTH)) {
      fields.remove(KnownHeader.TRAILER);
      return BodyEnd.LENGTH;
    }
    if (caller == RequestVersion.HTTP_1_0) {
      fields.remove(KnownHeader.TRAILER);
      return BodyEnd.CLOSE;
    }
    fields.set(KnownHeader.TRANSFER_ENCODING, CHUNKED);
    return BodyEnd.CHUNK;
  }

  /**
   * Keeps {@code Trailer}. Keeps {@code Content-Length} and {@code Expect} even if {@code
   * Connection} names them: without them the body would be read as another message, or never be
   * sent.
   */
  private static void removeHopByHop(HeaderFieldList fields) {
    String options = fields.first(KnownHeader.CONNECTION);
    boolean onlyKeepAlive = KnownHeader.KEEP_ALIVE.text().equalsIgnoreCase(options)
        && !fields.isRepeated(KnownHeader.CONNECTION);
    if (options != null && !onlyKeepAlive) {
      removeNamed(fields);
    }
    for (var field : HOP_BY_HOP) {
      fields.remove(field);
    }
  }

  private static void removeNamed(HeaderFieldList fields) {
    var named = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    HeaderFieldList.eachToken(fields.all(KnownHeader.CONNECTION), named::add);
    named.remove(KnownHeader.CONTENT_LENGTH.text());
    named.remove(KnownHeader.EXPECT.text());
    fields.removeAll(named);
  }
}
