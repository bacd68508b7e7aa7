package dev.activator.proxy.policy;

import dev.activator.http.KnownHeader;
import dev.activator.http.HeaderMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a request wants to switch to another protocol, and whether a response agrees.
 *
 * <p><b>Source.</b> RFC 9110, section 7.8; {@code upgradeType} in Go's {@code reverseproxy.go}.
 */
public final class UpgradeNegotiation {
  private static final String H2C = "h2c";

  private UpgradeNegotiation() {}

  /** The protocol that the request wants; null for HTTP/2, which ends at this proxy. */
  public static @Nullable String wanted(RequestVersion version, HeaderMap fields) {
    return isRequested(version, fields) && !fields.hasToken(KnownHeader.UPGRADE, H2C)
        ? fields.first(KnownHeader.UPGRADE)
        : null;
  }

  /**
   * Whether to switch to HTTP/2. False for a request with a body, because the body would have to be
   * read first.
   */
  public static boolean toHttp2(RequestVersion version, HeaderMap fields) {
    return isRequested(version, fields) && fields.hasToken(KnownHeader.UPGRADE, H2C)
        && fields.all(KnownHeader.HTTP2_SETTINGS).size() == 1
        && fields.hasToken(KnownHeader.CONNECTION, KnownHeader.HTTP2_SETTINGS.text())
        && !fields.has(KnownHeader.TRANSFER_ENCODING) && !fields.has(KnownHeader.CONTENT_LENGTH);
  }

  public static boolean agrees(HeaderMap request, HeaderMap response) {
    String requested = request.first(KnownHeader.UPGRADE);
    return requested != null && requested.equalsIgnoreCase(response.first(KnownHeader.UPGRADE));
  }

  public static void put(HeaderMap fields, String protocol) {
    fields.set(KnownHeader.CONNECTION, "Upgrade");
    fields.set(KnownHeader.UPGRADE, protocol);
  }

  public static boolean isRequested(RequestVersion version, HeaderMap fields) {
    return version == RequestVersion.HTTP_1_1 && fields.has(KnownHeader.UPGRADE)
        && fields.hasToken(KnownHeader.CONNECTION, "upgrade");
  }
}
