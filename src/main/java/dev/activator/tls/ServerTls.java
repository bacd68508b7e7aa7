package dev.activator.tls;

import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.util.List;

/**
 * How a port speaks TLS, in the names that TLS itself and Java have.
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
   * @param prefix of the variables, such as {@code ACTIVATOR_TLS_}
   * @param minVersion the oldest version, such as {@code 1.2}
   * @param cipherSuites with commas between; may be empty
   * @param curves with commas between; may be empty
   * @throws IllegalArgumentException naming the variable, if one means nothing
   */
  public static ServerTls of(String prefix, String minVersion, String maxVersion,
      String cipherSuites, String curves) {
    var names = new TlsNames(prefix);
    return new ServerTls(names.versions(minVersion, maxVersion), names.cipherSuites(cipherSuites),
        names.groups(curves));
  }

  /** For a server that shows this certificate. */
  public SslContextBuilder context(CertifiedKey shown) {
    return SslContextBuilder.forServer(shown.key(), shown.chain()).sslProvider(SslProvider.JDK)
        .protocols(versions).ciphers(cipherSuites.isEmpty() ? null : cipherSuites);
  }

  /** Sets what a context cannot: the groups. */
  public void prepare(SslHandler connection) {
    if (!groups.isEmpty()) {
      var parameters = connection.engine().getSSLParameters();
      parameters.setNamedGroups(groups.toArray(String[]::new));
      connection.engine().setSSLParameters(parameters);
    }
  }
}
