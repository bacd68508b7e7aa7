package dev.activator.app;

import dev.activator.app.properties.MetricsServerProperties;
import dev.activator.app.start.InvalidSettingsException;
import dev.activator.tls.KeyPairs;
import dev.activator.tls.ServerTls;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.List;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.ssl.pem.PemContent;
import reactor.netty.http.server.HttpServer;

/**
 * TLS of the port for metrics. It is not left to Spring, which cannot choose the curves.
 *
 * <p>
 * <b>Errors.</b> Files that cannot be used are an {@link InvalidSettingsException} that names them.
 *
 * <p>
 * <b>Source.</b> {@code observability/metrics/prometheus/server.go} of {@code knative.dev/pkg}.
 */
public final class MetricsTls implements NettyServerCustomizer {
  private final SslContext context;
  private final ServerTls settings;

  public MetricsTls(MetricsServerProperties properties) {
    this.settings = properties.tls();
    try {
      this.context = context(properties, settings);
    } catch (IOException | GeneralSecurityException | RuntimeException unusable) {
      throw new InvalidSettingsException("the port for metrics cannot speak TLS with the files "
          + files(properties) + ": " + unusable.getMessage(), unusable);
    }
  }

  private static String files(MetricsServerProperties properties) {
    var files = List.of(properties.tlsCert(), properties.tlsKey(), properties.tlsClientCaFile());
    return String.join(", ", files.stream().filter(file -> !file.isBlank()).toList());
  }

  private static SslContext context(MetricsServerProperties properties, ServerTls settings)
      throws IOException, GeneralSecurityException {
    var key = PemContent.load(Path.of(properties.tlsKey())).getPrivateKey();
    var chain = certificates(properties.tlsCert());
    var builder = SslContextBuilder.forServer(key, chain)
        .sslProvider(SslProvider.JDK).protocols(settings.versions())
        .ciphers(settings.cipherSuites().isEmpty() ? null : settings.cipherSuites())
        .clientAuth(switch (properties.tlsClientAuth()) {
          case "require" -> ClientAuth.REQUIRE;
          case "optional" -> ClientAuth.OPTIONAL;
          default -> ClientAuth.NONE;
        });
    if (key == null || !KeyPairs.match(chain[0].getPublicKey(), key)) {
      throw new IOException("the key is not the certificate's");
    }
    return properties.tlsClientCaFile().isBlank()
        ? builder.build()
        : builder.trustManager(certificates(properties.tlsClientCaFile())).build();
  }

  private static X509Certificate[] certificates(String file) throws IOException {
    return PemContent.load(Path.of(file)).getCertificates().toArray(X509Certificate[]::new);
  }

  @Override
  public HttpServer apply(HttpServer server) {
    return server
        .secure(spec -> spec.sslContext(context).handlerConfigurator(this::preferCurves));
  }

  private void preferCurves(SslHandler handler) {
    if (!settings.groups().isEmpty()) {
      var parameters = handler.engine().getSSLParameters();
      parameters.setNamedGroups(settings.groups().toArray(String[]::new));
      handler.engine().setSSLParameters(parameters);
    }
  }
}
