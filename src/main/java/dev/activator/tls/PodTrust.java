package dev.activator.tls;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Who vouches for pods: the certificates of some authorities. The system's own are not among them.
 * Each namespace has a context of its own, so that a session is not taken up again in another.
 *
 * <p>
 * <b>Threads.</b> Any.
 */
final class PodTrust {
  /** Sessions kept to be taken up again, a namespace. */
  private static final int SESSIONS = 64;
  /** Namespaces whose context is kept; it is made again for one that was forgotten. */
  static final int MOST_NAMESPACES = 1_000;

  private final @Nullable X509ExtendedTrustManager authorities;
  private final Map<String, Context> contexts = new ConcurrentHashMap<>();
  private final AtomicLong uses = new AtomicLong();

  /** What connections to one namespace share. */
  private static final class Context {
    private final SslContext tls;
    /** Which of all uses was its last. */
    private volatile long used;

    Context(SslContext tls) {
      this.tls = tls;
    }
  }

  private PodTrust(@Nullable X509ExtendedTrustManager authorities) {
    this.authorities = authorities;
  }

  /** None means that no pod is believed. */
  static PodTrust of(Collection<X509Certificate> authorities) {
    return new PodTrust(authorities.isEmpty() ? null : manager(authorities));
  }

  private static X509ExtendedTrustManager manager(Collection<X509Certificate> authorities) {
    try {
      var store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      for (var one : authorities) {
        store.setCertificateEntry(Integer.toString(store.size()), one);
      }
      var factory = TrustManagerFactory.getInstance("PKIX");
      factory.init(store);
      return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
    } catch (GeneralSecurityException | IOException impossible) {
      throw new IllegalStateException("a store in memory takes certificates", impossible);
    }
  }

  /** For connections to pods of this namespace. */
  SslContext of(String namespace) {
    var context = contexts.get(namespace);
    if (context == null) {
      makeRoom();
      var fresh = new Context(context(namespace));
      var other = contexts.putIfAbsent(namespace, fresh);
      context = other == null ? fresh : other;
    }
    context.used = uses.incrementAndGet();
    return context.tls;
  }

  /** Loops that come at the same time may each find room for one. */
  private void makeRoom() {
    if (contexts.size() >= MOST_NAMESPACES) {
      contexts.entrySet().stream()
          .min(Comparator.comparingLong(entry -> entry.getValue().used))
          .ifPresent(oldest -> contexts.remove(oldest.getKey()));
    }
  }

  private SslContext context(String namespace) {
    try {
      return SslContextBuilder.forClient().sslProvider(SslProvider.JDK)
          .trustManager(new NamespaceTrust(authorities, namespace))
          .protocols(List.of("TLSv1.3")).endpointIdentificationAlgorithm("HTTPS")
          .sessionCacheSize(SESSIONS).build();
    } catch (SSLException impossible) {
      throw new IllegalStateException("this runtime has TLS 1.3", impossible);
    }
  }
}
