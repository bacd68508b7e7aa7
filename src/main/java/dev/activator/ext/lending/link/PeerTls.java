package dev.activator.ext.lending.link;

import dev.activator.tls.CertifiedKey;
import dev.activator.tls.EngineTrustManager;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * TLS for the links between activators. All activators show the certificate of one Secret, and
 * accept only the key of that certificate. Its issuer, names and dates do not matter.
 *
 * <p><b>Threads.</b> Any. A new key applies to new connections.
 */
public final class PeerTls {
  private static final List<String> VERSIONS = List.of("TLSv1.3");

  private volatile @Nullable Contexts contexts;

  private record Contexts(PublicKey key, SslContext server, SslContext client) {}

  /**
   * Uses this certificate and key from now on. Has no effect if the key is the same.
   *
   * @param source for messages
   * @throws IOException if they cannot be used; the previous key stays
   */
  public void use(String source, String chain, String key) throws IOException {
    try {
      var shown = CertifiedKey.parse(chain, key);
      var open = shown.chain().getFirst().getPublicKey();
      var now = contexts;
      if (now == null || !now.key.equals(open)) {
        var trust = new SameKey(open);
        contexts = new Contexts(open,
            SslContextBuilder.forServer(shown.key(), shown.chain()).sslProvider(SslProvider.JDK)
                .protocols(VERSIONS).trustManager(trust).clientAuth(ClientAuth.REQUIRE).build(),
            SslContextBuilder.forClient().keyManager(shown.key(), shown.chain())
                .sslProvider(SslProvider.JDK).protocols(VERSIONS).trustManager(trust).build());
      }
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException(
          "cannot use the certificate and the key in " + source + ": " + e.getMessage(), e);
    }
  }

  /** The handler for an accepted connection; null while there is no key. */
  public @Nullable SslHandler server(ByteBufAllocator allocator) {
    var now = contexts;
    return now == null ? null : now.server.newHandler(allocator);
  }

  /** The handler for a connection of ours; null while there is no key. */
  public @Nullable SslHandler client(ByteBufAllocator allocator) {
    var now = contexts;
    return now == null ? null : now.client.newHandler(allocator);
  }

  /**
   * Trusts certificates with our own public key. The handshake has proved that the peer has the
   * private key.
   */
  private static final class SameKey extends EngineTrustManager {
    private final PublicKey key;

    SameKey(PublicKey key) {
      this.key = key;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      if (!chain[0].getPublicKey().equals(key)) {
        throw new CertificateException("its key is not ours");
      }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      checkClientTrusted(chain, type, engine);
    }
  }
}
