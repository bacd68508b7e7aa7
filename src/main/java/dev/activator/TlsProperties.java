package dev.activator;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * TLS for callers. Without a certificate nothing listens on the port for it.
 *
 * @param certificate a PEM file: the certificate, and those that vouch for it. Read again when it
 *     changes
 * @param key a PEM file: its private key
 * @param minVersion the oldest version of TLS spoken, 1.2 or 1.3; {@code ACTIVATOR_TLS_MIN_VERSION}
 * @param maxVersion the newest; {@code ACTIVATOR_TLS_MAX_VERSION}
 */
@ConfigurationProperties("activator.tls")
record TlsProperties(@Nullable Path certificate, @Nullable Path key,
    @DefaultValue("1.3") String minVersion, @DefaultValue("1.3") String maxVersion) {
  private static final List<String> KNOWN = List.of("1.2", "1.3");

  TlsProperties {
    check("activator.tls.min-version", minVersion);
    check("activator.tls.max-version", maxVersion);
    if (KNOWN.indexOf(minVersion) > KNOWN.indexOf(maxVersion)) {
      throw new IllegalArgumentException("activator.tls.min-version is " + minVersion
          + ", but activator.tls.max-version is " + maxVersion);
    }
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          "activator.tls.certificate and activator.tls.key are of use only together");
    }
  }

  private static void check(String name, String version) {
    if (!KNOWN.contains(version)) {
      throw new IllegalArgumentException(
          name + " is " + version + ", but must be one of " + String.join(", ", KNOWN));
    }
  }

  /** As TLS itself names them. */
  List<String> versions() {
    return KNOWN.subList(KNOWN.indexOf(minVersion), KNOWN.indexOf(maxVersion) + 1).stream()
        .map(version -> "TLSv" + version).toList();
  }
}
