package dev.activator.tls;

import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code system-internal-tls}: passes certificates and trust bundles of the cluster to connections
 * to pods and from callers.
 *
 * <p><b>Threads.</b> {@link #start} is called on one, and the listener's methods on another.
 *
 * <p><b>Errors.</b> An unusable certificate fails the start; later, the previous one stays.
 */
public final class SystemInternalTls implements CertificateListener {
  private static final Logger log = LoggerFactory.getLogger(SystemInternalTls.class);

  /** The cluster that has the Secret and the bundles. */
  @FunctionalInterface
  public interface Source {
    /** Blocks until they are read; changes follow. */
    void follow(String namespace, CertificateListener listener) throws InterruptedException;
  }

  private final Source cluster;
  private final String namespace;
  private final BooleanSupplier required;
  private final PodTls pods;
  private final ServerTlsSettings settings;
  private final TrustBundles authorities;
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
    this.authorities = new TrustBundles(pods::trust);
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

  /** What the Secret has now; null where TLS is not required. */
  public @Nullable RoutingCertificate routing() {
    return routing;
  }

  /** For callers; null where TLS is not required. */
  public @Nullable ServerCertificate certificate() {
    return certificate;
  }

  @Override
  public void certificate(RoutingCertificate now) {
    routing = now;
    authorities.own(source(), now.authorities());
    var shown = certificate;
    if (shown == null) {
      first(now);
    } else {
      shown.replace(now.chain(), now.key());
    }
  }

  /** For messages. */
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
    authorities.bundle(name, values);
  }

  @Override
  public void bundleGone(String name) {
    authorities.bundleGone(name);
  }
}
