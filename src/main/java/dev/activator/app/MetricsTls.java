package dev.activator.app;

import dev.activator.app.properties.MetricsServerProperties;
import dev.activator.lifecycle.StartFailedException;
import dev.activator.tls.CertifiedKey;
import dev.activator.tls.Pem;
import dev.activator.tls.ServerTls;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import reactor.netty.http.server.HttpServer;

/**
 * TLS of the port for metrics. It is not left to Spring, which cannot choose the curves.
 *
 * <p>
 * <b>Errors.</b> Files that cannot be used are an {@link StartFailedException} that names them.
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
      throw new StartFailedException("the port for metrics cannot speak TLS with the files "
          + files(properties) + ": " + unusable.getMessage(), unusable);
    }
  }

  private static String files(MetricsServerProperties properties) {
    var files = List.of(properties.tlsCert(), properties.tlsKey(), properties.tlsClientCaFile());
    return String.join(", ", files.stream().filter(file -> !file.isBlank()).toList());
  }

  private static SslContext context(MetricsServerProperties properties, ServerTls settings)
      throws IOException, GeneralSecurityException {
    var shown = CertifiedKey.parse(Files.readString(Path.of(properties.tlsCert())),
        Files.readString(Path.of(properties.tlsKey())));
    var builder = settings.context(shown).clientAuth(switch (properties.tlsClientAuth()) {
      case "require" -> ClientAuth.REQUIRE;
      case "optional" -> ClientAuth.OPTIONAL;
      default -> ClientAuth.NONE;
    });
    if (!properties.tlsClientCaFile().isBlank()) {
      builder.trustManager(
          Pem.certificates(Files.readString(Path.of(properties.tlsClientCaFile()))));
    }
    return builder.build();
  }

  @Override
  public HttpServer apply(HttpServer server) {
    return server
        .secure(spec -> spec.sslContext(context).handlerConfigurator(settings::prepare));
  }
}
