package dev.activator.proxy.policy.field;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a request's headers become on the way to a pod.
 *
 * <p>
 * <b>Source.</b> {@code activation handler.go} in Knative and {@code httputil.ReverseProxy} in Go.
 * Headers are first taken away and then added, so that a caller cannot have ours removed by naming
 * them in {@code Connection}.
 */
public final class RequestHeaders {
  private static final String CHUNKED = "chunked";

  private RequestHeaders() {}

  /**
   * Rewrites them in place.
   *
   * @param host which host the caller asked for
   * @param peer the caller's address
   */
  public static void rewrite(Fields fields, Version version, String host, String peer) {
    boolean chunked = fields.has(Field.TRANSFER_ENCODING);
    boolean trailers = fields.has(Field.TE) && Tokens.has(fields.all(Field.TE), "trailers");
    String upgrade = Upgrade.wanted(version, fields);
    HopByHop.removeFrom(fields);
    fields.remove(Field.TRAILER);
    fields.remove(Field.REVISION);
    fields.remove(Field.REVISION_NAMESPACE);
    fields.remove(Field.NETWORK_HASH);
    if (version == Version.HTTP_1_0) {
      // RFC 9110, section 10.1.1: not known before HTTP/1.1, and to be ignored.
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
    fields.set(Field.FORWARDED_FOR, forwardedFor(fields.all(Field.FORWARDED_FOR), peer));
  }

  /**
   * Addresses them.
   *
   * @param authority the pod
   * @param service the service that a mesh routes by, where pods cannot be addressed; null where
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

  /** Addresses them to a container without queue-proxy, which would do this. */
  public static void addressContainer(Fields fields) {
    var host = fields.first(Field.ORIGINAL_HOST);
    if (host != null) {
      fields.set(Field.HOST, host);
      fields.remove(Field.ORIGINAL_HOST);
    }
  }

  private static String forwardedFor(List<String> before, String peer) {
    return before.isEmpty() ? peer : String.join(", ", before) + ", " + peer;
  }
}
