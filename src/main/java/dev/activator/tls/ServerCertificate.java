package dev.activator.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate that callers over TLS are shown. It can be replaced while they come.
 *
 * <p>
 * <b>Threads.</b> Any may ask for a handler; one at a time replaces.
 *
 * <p>
 * <b>Errors.</b> One that cannot be used at first is an {@link IOException} that says where it is
 * from. Later it is a warning, and the one before stays.
 */
public final class ServerCertificate {
  private static final Logger log = LoggerFactory.getLogger(ServerCertificate.class);
  private static final ApplicationProtocolConfig PROTOCOLS = new ApplicationProtocolConfig(
      Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT,
      ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);

  private final String source;
  private final ServerTls settings;
  private volatile SslContext context;

  private ServerCertificate(String source, ServerTls settings, SslContext context) {
    this.source = source;
    this.settings = settings;
    this.context = context;
  }

  /**
   * Makes it of two texts in PEM.
   *
   * @param source where they are from, for messages
   * @param chain the certificate, and in any order those that vouch for it; others are left out
   * @param key its private key, in PKCS#8, PKCS#1 or SEC 1
   */
  public static ServerCertificate of(String source, String chain, String key, ServerTls settings)
      throws IOException {
    return new ServerCertificate(source, settings, context(source, chain, key, settings));
  }

  /** Shows this one from now on, to new connections. */
  public void replace(String chain, String key) {
    try {
      context = context(source, chain, key, settings);
      log.info("The certificate in {} is new", source);
    } catch (IOException unusable) {
      log.warn("The certificate stays as it was: {}", unusable.getMessage());
    }
  }

  /** For the next connection. */
  public SslHandler handler(ByteBufAllocator allocator) {
    var handler = context.newHandler(allocator);
    if (!settings.groups().isEmpty()) {
      var parameters = handler.engine().getSSLParameters();
      parameters.setNamedGroups(settings.groups().toArray(String[]::new));
      handler.engine().setSSLParameters(parameters);
    }
    return handler;
  }

  private static SslContext context(String source, String chain, String key, ServerTls settings)
      throws IOException {
    try {
      var made = SslContextBuilder
          .forServer(
              new ByteArrayInputStream(
                  CertificateChain.of(chain).getBytes(StandardCharsets.UTF_8)),
              new ByteArrayInputStream(PrivateKeys.parse(key)))
          .sslProvider(SslProvider.JDK).protocols(settings.versions())
          .ciphers(settings.cipherSuites().isEmpty() ? null : settings.cipherSuites())
          .applicationProtocolConfig(PROTOCOLS).build();
      if (!KeyPairs.match(chain, key)) {
        throw new IOException("the key is not the certificate's");
      }
      return made;
    } catch (IOException | GeneralSecurityException | IllegalArgumentException
        | IndexOutOfBoundsException failure) {
      throw new IOException(
          "cannot use the certificate and the key in " + source + ": " + reason(failure), failure);
    }
  }

  /** What the deepest cause says that says anything: those above it speak of streams. */
  private static String reason(Throwable failure) {
    String reason = failure.toString();
    for (var cause = failure; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null) {
        reason = cause.getMessage();
      }
    }
    return reason;
  }
}
