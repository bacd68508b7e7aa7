package dev.activator.tls;

import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Implements {@code system-internal-tls}: supplies the cluster's certificates and trust bundles to
 * TLS with pods and with callers.
 *
 * <p><b>Threads.</b> {@link #start} is called on one thread, and the listener's methods on another.
 *
 * <p><b>Errors.</b> An unusable certificate fails the start. Later, the previous certificate stays.
 */
public final class SystemInternalTls implements CertificateListener {
  private static final Logger log = LoggerFactory.getLogger(SystemInternalTls.class);

  /** The source of the Secret and the trust bundles: the cluster. */
  @FunctionalInterface
  public interface Source {
    /** Blocks until they are read, then reports changes to the listener. */
    void follow(String namespace, CertificateListener listener) throws InterruptedException;
  }

  private final Source cluster;
  private final String namespace;
  private final BooleanSupplier required;
  private final PodTls pods;
  private final ServerTlsSettings settings;
  private final TrustBundles trustBundles;
  private volatile @Nullable ServerCertificate certificate;
  private volatile @Nullable IOException unusable;
  private volatile @Nullable RoutingCertificate routing;

  public SystemInternalTls(Source cluster, String namespace, BooleanSupplier required, PodTls pods,
      ServerTlsSettings settings) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.required = required;
    this.pods = pods;
    this.settings = settings;
    this.trustBundles = new TrustBundles(pods::trust);
  }

  /** Blocks until TLS is ready or not required. */
  public void start() throws IOException, InterruptedException {
    if (!required.getAsBoolean()) {
      return;
    }
    cluster.follow(namespace, this);
    var failure = unusable;
    if (certificate == null && failure != null) {
      throw failure;
    }
    pods.require();
    log.info("Requests go to pods over TLS");
  }

  /** The current content of the Secret; null if TLS is not required. */
  public @Nullable RoutingCertificate routing() {
    return routing;
  }

  /** The certificate for callers; null if TLS is not required. */
  public @Nullable ServerCertificate certificate() {
    return certificate;
  }

  @Override
  public void certificate(RoutingCertificate now) {
    routing = now;
    trustBundles.own(source(), now.authorities());
    var shown = certificate;
    if (shown == null) {
      first(now);
    } else {
      shown.replace(now.chain(), now.key());
    }
  }

  /** The name of the Secret, for messages. */
  public String source() {
    return "the Secret routing-serving-certs of " + namespace;
  }

  private void first(RoutingCertificate now) {
    try {
      certificate = ServerCertificate.of(source(), now.chain(), now.key(), settings);
    } catch (IOException e) {
      unusable = e;
    }
  }

  @Override
  public void bundle(String name, List<String> values) {
    trustBundles.bundle(name, values);
  }

  @Override
  public void bundleGone(String name) {
    trustBundles.bundleGone(name);
  }
}
