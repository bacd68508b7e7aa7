package dev.activator.tls;

import java.util.List;

/**
 * Which TLS is spoken with callers, in the names that TLS itself and Java have.
 *
 * @param versions such as {@code TLSv1.3}
 * @param cipherSuites empty for those the runtime prefers
 * @param groups for the exchange of keys, the preferred first; empty for those the runtime prefers
 */
public record ServerTls(List<String> versions, List<String> cipherSuites, List<String> groups) {
  /** TLS 1.3 and nothing older. */
  public static final ServerTls DEFAULT = new ServerTls(List.of("TLSv1.3"), List.of(), List.of());

  /**
   * What Knative's variables say.
   *
   * @param names knows the variables
   * @param minVersion the oldest version, such as {@code 1.2}
   * @param cipherSuites with commas between; may be empty
   * @param curves with commas between; may be empty
   * @throws IllegalArgumentException naming the variable, if one means nothing
   */
  public static ServerTls of(TlsNames names, String minVersion, String maxVersion,
      String cipherSuites, String curves) {
    return new ServerTls(names.versions(minVersion, maxVersion), names.cipherSuites(cipherSuites),
        names.groups(curves));
  }
}
