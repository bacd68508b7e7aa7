package dev.activator.proxy.policy;

import dev.activator.http.HeaderName;
import dev.activator.http.HeaderFields;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a connection switches to another protocol.
 *
 * <p><b>Source.</b> RFC 9110, section 7.8; {@code upgradeType} in Go's {@code reverseproxy.go}.
 */
public final class ProtocolUpgrade {
  private static final String H2C = "h2c";

  private ProtocolUpgrade() {}

  /** The protocol that the request wants; null for HTTP/2, which ends at this proxy. */
  public static @Nullable String wanted(RequestVersion version, HeaderFields fields) {
    return isRequested(version, fields) && !fields.hasToken(HeaderName.UPGRADE, H2C)
        ? fields.first(HeaderName.UPGRADE)
        : null;
  }

  /** Whether to switch to HTTP/2. Not with a body, which would have to be read first. */
  public static boolean toHttp2(RequestVersion version, HeaderFields fields) {
    return isRequested(version, fields) && fields.hasToken(HeaderName.UPGRADE, H2C)
        && fields.all(HeaderName.HTTP2_SETTINGS).size() == 1
        && fields.hasToken(HeaderName.CONNECTION, HeaderName.HTTP2_SETTINGS.text())
        && !fields.has(HeaderName.TRANSFER_ENCODING) && !fields.has(HeaderName.CONTENT_LENGTH);
  }

  public static boolean agrees(HeaderFields request, HeaderFields response) {
    String requested = request.first(HeaderName.UPGRADE);
    return requested != null && requested.equalsIgnoreCase(response.first(HeaderName.UPGRADE));
  }

  public static void put(HeaderFields fields, String protocol) {
    fields.set(HeaderName.CONNECTION, "Upgrade");
    fields.set(HeaderName.UPGRADE, protocol);
  }

  public static boolean isRequested(RequestVersion version, HeaderFields fields) {
    return version == RequestVersion.HTTP_1_1 && fields.has(HeaderName.UPGRADE)
        && fields.hasToken(HeaderName.CONNECTION, "upgrade");
  }
}
