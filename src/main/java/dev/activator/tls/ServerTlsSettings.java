package dev.activator.tls;

import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.util.List;

/**
 * The TLS settings of a port, in Java's names.
 *
 * @param cipherSuites empty for the runtime's defaults
 * @param groups preferred first; empty for the runtime's defaults
 */
public record ServerTlsSettings(List<String> versions, List<String> cipherSuites,
    List<String> groups) {
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
    var names = new CipherSuiteNames(prefix);
    return new ServerTlsSettings(names.versions(minVersion, maxVersion),
        names.cipherSuites(cipherSuites),
        names.groups(curves));
  }

  public SslContextBuilder context(CertifiedKey certificate) {
    return SslContextBuilder.forServer(certificate.key(), certificate.chain())
        .sslProvider(SslProvider.JDK)
        .protocols(versions).ciphers(cipherSuites.isEmpty() ? null : cipherSuites);
  }

  /** Sets the groups, which cannot be set in a context. */
  public void prepare(SslHandler connection) {
    if (!groups.isEmpty()) {
      var parameters = connection.engine().getSSLParameters();
      parameters.setNamedGroups(groups.toArray(String[]::new));
      connection.engine().setSSLParameters(parameters);
    }
  }
}
