package dev.activator.tls;

import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.util.List;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * The TLS settings of a port, in Java's names.
 *
 * @param cipherSuites empty for the runtime's defaults
 * @param groups preferred first; empty for the runtime's defaults
 * @param weaker the warning that some of the chosen groups are missing here; null if none is
 */
public record ServerTlsSettings(List<String> versions, List<String> cipherSuites,
    List<String> groups, @Nullable String weaker) {
  /**
   * Parses Knative's variables.
   *
   * @param prefix such as {@code ACTIVATOR_TLS_}
   * @param cipherSuites separated by commas
   * @param curves separated by commas
   * @throws IllegalArgumentException naming the variable
   */
  public static ServerTlsSettings of(String prefix, String minVersion, String maxVersion,
      String cipherSuites, String curves) {
    var names = new CipherSuiteNames(prefix, Runtime.version().feature());
    return new ServerTlsSettings(names.versions(minVersion, maxVersion),
        names.cipherSuites(cipherSuites),
        names.groups(curves), names.weaker(curves));
  }

  public SslContextBuilder context(CertifiedKey certificate) {
    return SslContextBuilder.forServer(certificate.key(), certificate.chain())
        .sslProvider(SslProvider.JDK)
        .protocols(versions).ciphers(cipherSuites.isEmpty() ? null : cipherSuites);
  }

  /** Sets the groups, which cannot be set in a context. */
  public void prepare(SSLEngine connection) {
    if (!groups.isEmpty()) {
      var parameters = connection.getSSLParameters();
      parameters.setNamedGroups(groups.toArray(String[]::new));
      connection.setSSLParameters(parameters);
    }
  }
}
