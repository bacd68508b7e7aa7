package dev.activator.proxy.policy;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites the headers of requests on the way to a pod, and of responses on the way to the caller, in
 * place. Headers are removed first and added afterwards, so that a caller cannot have ours removed by
 * naming them in {@code Connection}.
 *
 * <p>
 * <b>Source.</b> {@code activation handler.go} in Knative; {@code httputil.ReverseProxy} in Go; RFC
 * 9110, section 7.6.1; RFC 9112, section 6.3.
 */
public final class HeaderRewriter {
  private static final String CHUNKED = "chunked";
  private static final Field[] HOP_BY_HOP = {Field.CONNECTION, Field.PROXY_CONNECTION,
      Field.KEEP_ALIVE, Field.PROXY_AUTHENTICATE, Field.PROXY_AUTHORIZATION, Field.TE,
      Field.TRANSFER_ENCODING, Field.UPGRADE};
  /** Removing one field costs a pass over all of them: more than this are removed in one pass. */
  private static final int FEW = 8;

  /** How the end of a response's body is marked. */
  public enum BodyEnd {
    /** There is no body, or its length is known. */
    LENGTH,
    /** An empty chunk. */
    CHUNK,
    /** The end of the connection, for callers that know no chunks. */
    CLOSE,
    /** The end of the stream. */
    STREAM
  }

  private HeaderRewriter() {}

  /**
   * Rewrites a request.
   *
   * @param host the host that the caller asked for
   * @param peer the caller's address
   */
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
      // RFC 9110, section 10.1.1: unknown before HTTP/1.1, and to be ignored.
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
    if (!fields.has(Field.ORIGINAL_HOST)) {
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

  /**
   * Addresses a request.
   *
   * @param authority the pod
   * @param service the Service that a mesh routes by, where pods cannot be addressed; null where
   *     they can
   */
  public static void address(Fields fields, String authority, @Nullable String service) {
    if (service == null) {
      fields.set(Field.HOST, authority);
    } else {
      fields.set(Field.HOST, service);
      fields.set(Field.PASSTHROUGH, "true");
    }
  }

  /** Addresses a request to a container without queue-proxy, which would do this. */
  public static void addressContainer(Fields fields) {
    String host = fields.first(Field.ORIGINAL_HOST);
    if (host != null) {
      fields.set(Field.HOST, host);
      fields.remove(Field.ORIGINAL_HOST);
    }
  }

  /**
   * Rewrites a response.
   *
   * @param caller the version that the caller speaks
   * @param bodyless whether the response never has a body: it answers a HEAD, or is a 204 or 304
   */
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
   * Removes the fields of one connection and those that {@code Connection} names, except {@code
   * Trailer}. A length always stays: without it the body would be read as another message.
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
    if (named.size() > FEW) {
      fields.removeAll(named);
    } else {
      named.forEach(fields::remove);
    }
  }
}
