package dev.activator.proxy.policy.field;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request to go on in another protocol on the same connection.
 *
 * <p>
 * <b>Source.</b> RFC 9110, section 7.8; {@code upgradeType} in Go's {@code reverseproxy.go}.
 */
public final class Upgrade {
  private static final String H2C = "h2c";

  private Upgrade() {}

  /** The protocol a pod should be asked for; null if none. HTTP/2 is a matter between neighbours. */
  public static @Nullable String wanted(Version version, Fields fields) {
    String protocol = of(version, fields);
    return protocol == null || Tokens.has(List.of(protocol), H2C) ? null : protocol;
  }

  /** Whether to go on in HTTP/2: only without a body, which would have to be read first. */
  public static boolean toHttp2(Version version, Fields fields) {
    String protocol = of(version, fields);
    return protocol != null && Tokens.has(List.of(protocol), H2C)
        && fields.all(Field.HTTP2_SETTINGS).size() == 1
        && Tokens.has(fields.all(Field.CONNECTION), Field.HTTP2_SETTINGS.text())
        && !fields.has(Field.TRANSFER_ENCODING) && !fields.has(Field.CONTENT_LENGTH);
  }

  /** Whether a pod's 101 is what was asked for. */
  public static boolean agrees(Fields request, Fields response) {
    String asked = request.first(Field.UPGRADE);
    return asked != null && asked.equalsIgnoreCase(response.first(Field.UPGRADE));
  }

  /** Asks for it, or agrees to it. */
  public static void put(Fields fields, String protocol) {
    fields.set(Field.CONNECTION, "Upgrade");
    fields.set(Field.UPGRADE, protocol);
  }

  private static @Nullable String of(Version version, Fields fields) {
    return version == Version.HTTP_1_1 && fields.has(Field.UPGRADE)
        && Tokens.has(fields.all(Field.CONNECTION), "upgrade") ? fields.first(Field.UPGRADE) : null;
  }
}
