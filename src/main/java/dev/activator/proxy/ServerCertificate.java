package dev.activator.proxy;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate that callers over TLS are shown, read from PEM files, and again when they change.
 *
 * <p>
 * <b>Threads.</b> Any may ask for the context; one at a time reloads.
 *
 * <p>
 * <b>Errors.</b> Files that cannot be read at first are an {@link IOException} that names them. Later
 * they are a warning, and the certificate before stays.
 */
public final class ServerCertificate {
  private static final Logger log = LoggerFactory.getLogger(ServerCertificate.class);
  private static final ApplicationProtocolConfig PROTOCOLS = new ApplicationProtocolConfig(
      Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT,
      ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);

  private final Path chain;
  private final Path key;
  private final List<String> versions;
  private byte[] loaded;
  private volatile SslContext context;

  private ServerCertificate(Path chain, Path key, List<String> versions) throws IOException {
    this.chain = chain;
    this.key = key;
    this.versions = versions;
    this.loaded = bytes();
    this.context = load();
  }

  /**
   * Reads it for the first time.
   *
   * @param chain the certificate, and those that vouch for it
   * @param key its private key, in PKCS#8, PKCS#1 or SEC 1
   * @param versions those of TLS that are spoken, such as {@code TLSv1.3}
   */
  public static ServerCertificate read(Path chain, Path key, List<String> versions)
      throws IOException {
    return new ServerCertificate(chain, key, versions);
  }

  /** For the next connection. */
  SslContext context() {
    return context;
  }

  /** Takes over what the files say now, for connections from now on. */
  public void reload() {
    try {
      byte[] now = bytes();
      if (!Arrays.equals(now, loaded)) {
        context = load();
        loaded = now;
        log.info("The certificate in {} is new", chain);
      }
    } catch (IOException failure) {
      log.warn("The certificate stays as it was: {}", failure.getMessage());
    }
  }

  private byte[] bytes() throws IOException {
    try {
      byte[] first = Files.readAllBytes(chain);
      byte[] second = Files.readAllBytes(key);
      byte[] both = Arrays.copyOf(first, first.length + second.length);
      System.arraycopy(second, 0, both, first.length, second.length);
      return both;
    } catch (IOException failure) {
      throw new IOException("cannot read the certificate in " + chain + " and its key in " + key
          + ": " + failure, failure);
    }
  }

  private SslContext load() throws IOException {
    try (var in = Files.newInputStream(chain)) {
      var privateKey = PrivateKeys.parse(Files.readString(key));
      return SslContextBuilder.forServer(in, new ByteArrayInputStream(privateKey))
          .sslProvider(SslProvider.JDK).protocols(versions).applicationProtocolConfig(PROTOCOLS)
          .build();
    } catch (IOException | IllegalArgumentException failure) {
      throw new IOException("cannot use the certificate in " + chain + " with the key in " + key
          + ": " + failure.getMessage(), failure);
    }
  }
}
