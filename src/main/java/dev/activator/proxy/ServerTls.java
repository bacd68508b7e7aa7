package dev.activator.proxy;

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
}
