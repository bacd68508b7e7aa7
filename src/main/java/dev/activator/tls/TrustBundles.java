package dev.activator.tls;

import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the authorities that may issue pods' certificates, and publishes them.
 *
 * <p><b>Threads.</b> One at a time.
 *
 * <p><b>Errors.</b> Unreadable certificates are skipped, with a warning. If a new text for the
 * activator's own authorities has none, the previous ones stay.
 *
 * <p><b>Source.</b> {@code certificate/cache.go} of Knative's activator. It reads only the first
 * block of {@code ca.crt}, so connections fail while an authority is replaced.
 */
public final class TrustBundles {
  private static final Logger log = LoggerFactory.getLogger(TrustBundles.class);

  private final Consumer<Collection<X509Certificate>> listener;
  private final Map<String, List<X509Certificate>> bundles = new TreeMap<>();
  private List<X509Certificate> own = List.of();
  private Set<X509Certificate> published = Set.of();

  /** @param listener called with all authorities when they change */
  public TrustBundles(Consumer<Collection<X509Certificate>> listener) {
    this.listener = listener;
  }

  /**
   * @param source for the log
   * @param pem may be empty
   */
  public void own(String source, String pem) {
    var now = read(source, pem.isEmpty() ? List.of() : List.of(pem));
    if (now.isEmpty() && !own.isEmpty()) {
      log.warn("No authority can be read in {}; the {} previous ones stay in use", source,
          own.size());
      return;
    }
    own = now;
    publish();
  }

  /** @param values texts with any number of certificates each */
  public void bundle(String name, Collection<String> values) {
    bundles.put(name, read("the trust bundle " + name, values));
    publish();
  }

  public void bundleGone(String name) {
    bundles.remove(name);
    publish();
  }

  private static List<X509Certificate> read(String source, Collection<String> values) {
    var read = values.stream().map(PemCertificates::read).toList();
    var found = read.stream().flatMap(pem -> pem.certificates().stream()).toList();
    long broken = read.stream().filter(PemCertificates::isBroken).count();
    if (broken > 0 || found.isEmpty() && !values.isEmpty()) {
      log.warn(
          "Of {} only {} certificates can be read; {} of its {} values are broken or have none",
          source, found.size(), broken, values.size());
    }
    return found;
  }

  private void publish() {
    var all = new LinkedHashSet<>(own);
    bundles.values().forEach(all::addAll);
    if (all.equals(published)) {
      return;
    }
    published = all;
    log.info("New connections to pods trust {} authorities; trust bundles: {}",
        all.size(), bundles.keySet());
    listener.accept(List.copyOf(all));
  }
}
