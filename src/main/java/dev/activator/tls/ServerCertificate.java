package dev.activator.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.security.GeneralSecurityException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate that callers are shown. It can be replaced while connections are open; these keep
 * the one they were opened with.
 *
 * <p>
 * <b>Threads.</b> Any may ask for a handler; one at a time replaces.
 *
 * <p>
 * <b>Errors.</b> A first certificate that cannot be used is an {@link IOException} that names its
 * source. A later one is a warning, and the one before stays.
 */
public final class ServerCertificate {
  private static final Logger log = LoggerFactory.getLogger(ServerCertificate.class);
  private static final ApplicationProtocolConfig PROTOCOLS = new ApplicationProtocolConfig(
      Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT,
      ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);

  private final String source;
  private final ServerTls settings;
  private Texts last;
  private volatile SslContext context;

  /** What a certificate was last made of, whether it could be used or not. */
  private record Texts(String chain, String key) {}

  private ServerCertificate(String source, ServerTls settings, Texts first) throws IOException {
    this.source = source;
    this.settings = settings;
    this.last = first;
    this.context = context(first);
  }

  /**
   * Makes it of two texts in PEM.
   *
   * @param source where they are from, for messages
   * @param chain the certificate, and in any order those that issued it; others are left out
   * @param key its private key, in PKCS#8, PKCS#1 or SEC 1
   */
  public static ServerCertificate of(String source, String chain, String key, ServerTls settings)
      throws IOException {
    return new ServerCertificate(source, settings, new Texts(chain, key));
  }

  /** Shows this one to new connections. Does nothing if it is the same as the last time. */
  public void replace(String chain, String key) {
    var now = new Texts(chain, key);
    if (now.equals(last)) {
      return;
    }
    last = now;
    try {
      context = context(now);
      log.info("The certificate in {} is new", source);
    } catch (IOException unusable) {
      log.warn("The certificate stays as it was: {}", unusable.getMessage());
    }
  }

  /** For the next connection. */
  public SslHandler handler(ByteBufAllocator allocator) {
    var handler = context.newHandler(allocator);
    settings.prepare(handler);
    return handler;
  }

  private SslContext context(Texts texts) throws IOException {
    try {
      return settings.context(CertifiedKey.parse(texts.chain, texts.key))
          .applicationProtocolConfig(PROTOCOLS).build();
    } catch (IOException | GeneralSecurityException | IllegalArgumentException unusable) {
      throw new IOException("cannot use the certificate and the key in " + source + ": "
          + unusable.getMessage(), unusable);
    }
  }
}
