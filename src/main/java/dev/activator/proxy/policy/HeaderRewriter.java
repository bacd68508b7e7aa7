package dev.activator.proxy.policy;

import dev.activator.http.Field;
import dev.activator.http.Fields;
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
  private static final Field[] HOP_BY_HOP = {Field.CONNECTION, Field.PROXY_CONNECTION,
      Field.KEEP_ALIVE, Field.PROXY_AUTHENTICATE, Field.PROXY_AUTHORIZATION, Field.TE,
      Field.TRANSFER_ENCODING, Field.UPGRADE};

  public enum BodyEnd {
    /** The length is known, or there is no body. */
    LENGTH,
    CHUNK,
    /** The end of the connection, for callers without chunks. */
    CLOSE,
    STREAM
  }

  private HeaderRewriter() {}

  public static void request(Fields fields, Version version, String host, String peer) {
    boolean chunked = fields.has(Field.TRANSFER_ENCODING);
    boolean trailers = fields.has(Field.TE) && fields.hasToken(Field.TE, "trailers");
    String upgrade = Upgrade.wanted(version, fields);
    removeHopByHop(fields);
    fields.remove(Field.TRAILER);
    fields.remove(Field.REVISION);
    fields.remove(Field.REVISION_NAMESPACE);
    fields.remove(Field.NETWORK_HASH);
    if (version == Version.HTTP_1_0) {
      // RFC 9110, section 10.1.1: servers must ignore it in HTTP/1.0.
      fields.remove(Field.EXPECT);
    }
    if (chunked) {
      fields.set(Field.TRANSFER_ENCODING, CHUNKED);
    }
    if (trailers) {
      fields.set(Field.TE, "trailers");
    }
    if (upgrade != null) {
      Upgrade.put(fields, upgrade);
    }
    if (fields.text(Field.ORIGINAL_HOST).isEmpty()) {
      fields.set(Field.ORIGINAL_HOST, host);
    }
    fields.set(Field.PROXY_REQUEST, "activator");
    fields.set(Field.FORWARDED_FOR, forwardedFor(fields, peer));
  }

  private static String forwardedFor(Fields fields, String peer) {
    return fields.has(Field.FORWARDED_FOR)
        ? String.join(", ", fields.all(Field.FORWARDED_FOR)) + ", " + peer
        : peer;
  }

  /** @param service that a mesh routes by; null where pods are reached directly */
  public static void address(Fields fields, String authority, @Nullable String service) {
    if (service == null) {
      fields.set(Field.HOST, authority);
    } else {
      fields.set(Field.HOST, service);
      fields.set(Field.PASSTHROUGH, "true");
    }
  }

  /** For a container without queue-proxy. */
  public static void addressContainer(Fields fields) {
    String host = fields.first(Field.ORIGINAL_HOST);
    if (host != null) {
      fields.set(Field.HOST, host);
      fields.remove(Field.ORIGINAL_HOST);
    }
  }

  /** @param bodyless for a HEAD, 204 or 304 */
  public static BodyEnd response(Fields fields, Version caller, boolean bodyless) {
    removeHopByHop(fields);
    if (caller == Version.HTTP_2) {
      return BodyEnd.STREAM;
    }
    if (bodyless || fields.has(Field.CONTENT_LENGTH)) {
      fields.remove(Field.TRAILER);
      return BodyEnd.LENGTH;
    }
    if (caller == Version.HTTP_1_0) {
      fields.remove(Field.TRAILER);
      return BodyEnd.CLOSE;
    }
    fields.set(Field.TRANSFER_ENCODING, CHUNKED);
    return BodyEnd.CHUNK;
  }

  /**
   * Keeps {@code Trailer}, and the length even if {@code Connection} names it: without it the body
   * would be read as another message.
   */
  private static void removeHopByHop(Fields fields) {
    String options = fields.first(Field.CONNECTION);
    boolean usual = Field.KEEP_ALIVE.text().equalsIgnoreCase(options)
        && !fields.isRepeated(Field.CONNECTION);
    if (options != null && !usual) {
      removeNamed(fields);
    }
    for (var field : HOP_BY_HOP) {
      fields.remove(field);
    }
  }

  private static void removeNamed(Fields fields) {
    var named = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    Fields.eachToken(fields.all(Field.CONNECTION), named::add);
    named.remove(Field.CONTENT_LENGTH.text());
    fields.removeAll(named);
  }
}
