package dev.activator.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate for callers. It can be replaced for new connections.
 *
 * <p><b>Threads.</b> Any for {@link #handler}; one at a time for {@link #replace}.
 *
 * <p><b>Errors.</b> An unusable first certificate is an {@link IOException}. Later failures are
 * logged, and the previous certificate stays.
 */
public final class ServerCertificate {
  private static final Logger log = LoggerFactory.getLogger(ServerCertificate.class);
  private static final ApplicationProtocolConfig PROTOCOLS = new ApplicationProtocolConfig(
      Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT,
      ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);

  private final String source;
  private final ServerTlsSettings settings;
  private Texts last;
  private volatile SslContext context;

  /** The texts of the last certificate, even if it could not be used. */
  private record Texts(String chain, String key) {}

  private ServerCertificate(String source, ServerTlsSettings settings, Texts first)
      throws IOException {
    this.source = source;
    this.settings = settings;
    this.last = first;
    this.context = context(first);
    if (settings.weaker() != null) {
      log.warn(settings.weaker());
    }
  }

  /**
   * @param source for messages
   * @param chain the certificate first, issuers in any order
   * @param key in PKCS#8, PKCS#1 or SEC 1
   */
  public static ServerCertificate of(String source, String chain, String key,
      ServerTlsSettings settings)
      throws IOException {
    return new ServerCertificate(source, settings, new Texts(chain, key));
  }

  public void replace(String chain, String key) {
    var now = new Texts(chain, key);
    if (now.equals(last)) {
      return;
    }
    last = now;
    try {
      context = context(now);
      log.info("The certificate in {} has changed", source);
    } catch (IOException e) {
      log.warn("The previous certificate stays in use: {}", e.getMessage());
    }
  }

  public SslHandler handler(ByteBufAllocator allocator) {
    return context().newHandler(allocator);
  }

  /** A context in which each new connection gets the present certificate. */
  public SslContext context() {
    return new PresentContext();
  }

  private final class PresentContext extends SslContext {
    @Override
    public boolean isClient() {
      return false;
    }

    @Override
    public List<String> cipherSuites() {
      return context.cipherSuites();
    }

    @Override
    public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
      return context.applicationProtocolNegotiator();
    }

    @Override
    public SSLSessionContext sessionContext() {
      return context.sessionContext();
    }

    @Override
    public SSLEngine newEngine(ByteBufAllocator allocator) {
      return prepared(context.newEngine(allocator));
    }

    @Override
    public SSLEngine newEngine(ByteBufAllocator allocator, String host, int port) {
      return prepared(context.newEngine(allocator, host, port));
    }

    private SSLEngine prepared(SSLEngine engine) {
      settings.prepare(engine);
      return engine;
    }
  }

  private SslContext context(Texts texts) throws IOException {
    try {
      return settings.context(CertifiedKey.parse(texts.chain, texts.key))
          .applicationProtocolConfig(PROTOCOLS).build();
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException("cannot use the certificate and the key in " + source + ": "
          + e.getMessage(), e);
    }
  }

  /**
   * A certificate in two files, reloaded when they change.
   *
   * <p><b>Threads.</b> One at a time; {@link #watch} starts a separate thread.
   *
   * <p><b>Errors.</b> The first read fails with an {@link IOException}. Later failures are logged,
   * and the previous certificate stays.
   */
  public static final class CertificateFiles {
    private static final long RELOAD_SECONDS = 10;

    private final Path chain;
    private final Path key;
    private final ServerCertificate certificate;
    private @Nullable ScheduledExecutorService watching;
    /** Why the files could not be read the last time; null if they could. */
    private @Nullable String problem;

    private CertificateFiles(Path chain, Path key, ServerTlsSettings settings) throws IOException {
      this.chain = chain;
      this.key = key;
      this.certificate = ServerCertificate.of(chain + " and " + key, text(chain), text(key),
          settings);
    }

    /** @param chain the certificate and its issuers */
    public static CertificateFiles read(Path chain, Path key, ServerTlsSettings settings)
        throws IOException {
      return new CertificateFiles(chain, key, settings);
    }

    public ServerCertificate certificate() {
      return certificate;
    }

    /** Polls the files, because replacing symbolic links raises no event. */
    public void watch() {
      watching = Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("certificate").factory());
      watching.scheduleWithFixedDelay(this::reload, RELOAD_SECONDS, RELOAD_SECONDS,
          TimeUnit.SECONDS);
    }

    public void reload() {
      try {
        certificate.replace(text(chain), text(key));
        problem = null;
      } catch (IOException e) {
        if (!e.toString().equals(problem)) {
          log.warn("The previous certificate stays in use: {}", e.getMessage());
        }
        problem = e.toString();
      } catch (RuntimeException e) {
        // A bug. Caught, because otherwise the executor would end the watch.
        log.error("Reading the certificate in {} failed; the previous one stays in use", chain, e);
      }
    }

    private String text(Path file) throws IOException {
      try {
        return Files.readString(file);
      } catch (NoSuchFileException e) {
        throw new IOException("there is no file " + file, e);
      } catch (IOException e) {
        throw new IOException("cannot read " + file + ": " + e.getMessage(), e);
      }
    }

    public void close() {
      if (watching != null) {
        watching.shutdownNow();
      }
    }
  }
}
