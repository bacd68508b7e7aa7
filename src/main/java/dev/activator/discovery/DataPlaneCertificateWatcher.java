package dev.activator.discovery;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.kube.KubernetesSession;
import dev.activator.discovery.decode.ConfigMapReader.Texts;
import dev.activator.discovery.decode.RoutingCertificateReader;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.tls.CertificateListener;
import dev.activator.tls.CertificateListener.RoutingCertificate;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the data plane's certificate and the trust bundles, and passes them to a listener.
 *
 * <p><b>Source.</b> {@code certificate/cache.go} of Knative's activator.
 */
final class DataPlaneCertificateWatcher {
  private static final String BUNDLE = "networking.knative.dev/trust-bundle";
  private static final Logger log = LoggerFactory.getLogger(DataPlaneCertificateWatcher.class);

  private final String namespace;
  private final CertificateListener listener;
  private volatile boolean found;

  DataPlaneCertificateWatcher(String namespace, CertificateListener listener) {
    this.namespace = namespace;
    this.listener = listener;
  }

  List<KubernetesSession.Followed> follow(KubernetesSession session) {
    return List.of(
        session.follow(
            new InformerQuery<>(KnativeKinds.SECRETS, namespace, "",
                "metadata.name=" + RoutingCertificateReader.NAME),
            this::secretChanged),
        session.follow(InformerQuery.in(namespace, KnativeKinds.CONFIG_MAPS, BUNDLE),
            this::bundleChanged));
  }

  void requireSecret() {
    if (!found) {
      throw new ClusterUnavailableException(
          "there is no Secret " + namespace + "/" + RoutingCertificateReader.NAME
              + " with tls.crt and tls.key, which system-internal-tls needs");
    }
  }

  private void secretChanged(@Nullable RoutingCertificate before,
      @Nullable RoutingCertificate now) {
    if (now == null) {
      log.warn("The Secret {}/{} was deleted; its certificate stays in use", namespace,
          RoutingCertificateReader.NAME);
    } else {
      listener.certificate(now);
      found = true;
    }
  }

  private void bundleChanged(@Nullable Texts before, @Nullable Texts now) {
    if (now != null) {
      listener.bundle(now.namespace() + "/" + now.name(), List.copyOf(now.data().values()));
    } else if (before != null) {
      listener.bundleGone(before.namespace() + "/" + before.name());
    }
  }
}
