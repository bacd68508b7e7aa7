package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a request wants to switch to another protocol, and whether a response agrees.
 *
 * <p><b>Source.</b> RFC 9110, section 7.8; {@code upgradeType} in Go's {@code reverseproxy.go}.
 */
public final class UpgradeNegotiation {
  private static final String H2C = "h2c";
  private static final String TLS = "TLS/";

  private UpgradeNegotiation() {}

  /**
   * The protocols that the request offers to the pod, in the caller's order; null if there are none.
   * {@code h2c} is never one, as RFC 9113 removed that upgrade, nor is TLS (RFC 2817): Apache's HttpClient 5.4 and 5.4.1 offer
   * it in each request, and a request with an upgrade cannot go to a pod in HTTP/2.
   */
  public static @Nullable String wanted(RequestVersion version, HeaderFieldList fields) {
    if (version != RequestVersion.HTTP_1_1 || !fields.has(KnownHeader.UPGRADE)
        || !fields.hasToken(KnownHeader.CONNECTION, "upgrade")) {
      return null;
    }
    var protocols = new StringJoiner(", ");
    HeaderFieldList.eachToken(fields.all(KnownHeader.UPGRADE), protocol -> {
      if (!protocol.equalsIgnoreCase(H2C)
          && !protocol.regionMatches(true, 0, TLS, 0, TLS.length())) {
        protocols.add(protocol);
      }
    });
    return protocols.length() == 0 ? null : protocols.toString();
  }

  /** Whether the response switches to one of the protocols that the request offers. */
  public static boolean agrees(HeaderFieldList request, HeaderFieldList response) {
    return request.hasToken(KnownHeader.UPGRADE, response.text(KnownHeader.UPGRADE));
  }

  public static void put(HeaderFieldList fields, String protocol) {
    fields.set(KnownHeader.CONNECTION, "Upgrade");
    fields.set(KnownHeader.UPGRADE, protocol);
  }
}
