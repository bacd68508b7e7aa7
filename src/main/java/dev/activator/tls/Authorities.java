package dev.activator.tls;

import java.security.cert.X509Certificate;
import java.util.ArrayList;
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
 * The authorities that vouch for pods: those that come with the activator's own certificate, and
 * those of all trust bundles.
 *
 * <p>
 * <b>Threads.</b> One at a time calls, and is called back within.
 *
 * <p>
 * <b>Errors.</b> What is no certificate is left out, with one line in the log for each bundle that
 * has such a thing. The activator's own are not replaced by none at all.
 *
 * <p>
 * <b>Source.</b> {@code certificate/cache.go} of Knative's activator. There only the first block of
 * the Secret's {@code ca.crt} counts, which breaks while an authority is replaced: then it has two.
 */
public final class Authorities {
  private static final Logger log = LoggerFactory.getLogger(Authorities.class);

  private final Consumer<Collection<X509Certificate>> out;
  private final Map<String, List<X509Certificate>> bundles = new TreeMap<>();
  private List<X509Certificate> own = List.of();
  private Set<X509Certificate> told = Set.of();

  /**
   * Nobody vouches yet.
   *
   * @param out told of all of them whenever that changes
   */
  public Authorities(Consumer<Collection<X509Certificate>> out) {
    this.out = out;
  }

  /**
   * Those that come with the certificate are these now; where nothing can be read, those before stay.
   *
   * @param source where they are from, for the log
   * @param pem any number of certificates
   */
  public void own(String source, String pem) {
    var now = read(source, List.of(pem));
    if (now.isEmpty() && !own.isEmpty()) {
      log.warn("The authorities of {} stay as they were: {}", source, own.size());
      return;
    }
    own = now;
    tell();
  }

  /** A bundle has these values now, each of which is any number of certificates in PEM. */
  public void bundle(String name, Collection<String> values) {
    bundles.put(name, read("the trust bundle " + name, values));
    tell();
  }

  /** A bundle is deleted. */
  public void bundleGone(String name) {
    bundles.remove(name);
    tell();
  }

  private static List<X509Certificate> read(String source, Collection<String> values) {
    var found = new ArrayList<X509Certificate>();
    int broken = 0;
    for (String value : values) {
      var pem = Pem.certificates(value);
      found.addAll(pem.certificates());
      broken += pem.isBroken() ? 1 : 0;
    }
    if (broken > 0 || found.isEmpty()) {
      log.warn(
          "Of {} only {} certificates can be read; {} of its {} values are broken or have none",
          source, found.size(), broken, values.size());
    }
    return List.copyOf(found);
  }

  private void tell() {
    var all = new LinkedHashSet<>(own);
    bundles.values().forEach(all::addAll);
    if (all.equals(told)) {
      return;
    }
    told = all;
    log.info("{} authorities vouch for pods, for connections from now on; trust bundles: {}",
        all.size(), bundles.keySet());
    out.accept(List.copyOf(all));
  }
}
