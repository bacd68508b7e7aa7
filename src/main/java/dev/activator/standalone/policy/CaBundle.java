package dev.activator.standalone.policy;

import dev.activator.standalone.policy.CaObject.Certificate;
import dev.activator.standalone.policy.PodTlsSettings.CaReference;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The authorities that may issue certificates of a ScaledService's pods.
 *
 * @param authorities certificates in PEM; empty for those of the system; null if there is none
 * @param problems a sentence for each reference that cannot be used, or only in part
 * @param end when the first of them expires; {@link Instant#MAX} if none is known to
 */
public record CaBundle(@Nullable String authorities, List<String> problems, Instant end) {
  public CaBundle {
    problems = List.copyOf(problems);
  }

  /**
   * The bundle of these settings.
   *
   * @param objects finds a ConfigMap or Secret; null while it is read
   * @param now authorities that have expired by then are left out
   * @return null while an object is read
   */
  public static @Nullable CaBundle of(PodTlsSettings settings, String namespace,
      Function<CaObject.Name, @Nullable CaObject> objects, Instant now) {
    if (settings.authorities().isEmpty()) {
      return settings.trustsSystem()
          ? new CaBundle("", List.of(), Instant.MAX)
          : new CaBundle(null, List.of("spec.tls names no authorities"), Instant.MAX);
    }
    var all = new LinkedHashSet<Certificate>();
    var problems = new ArrayList<String>();
    for (var reference : settings.authorities()) {
      var name = reference.in(namespace);
      switch (objects.apply(name)) {
        case null -> {
          return null;
        }
        case CaObject.Missing() -> problems
            .add("there is no " + name + ", which spec.tls.caCertificateRefs names");
        case CaObject.Unreadable(var why) -> problems.add(name + " cannot be read: " + why);
        case CaObject.Found found -> add(reference, name, found, now, all, problems);
      }
    }
    return new CaBundle(
        all.isEmpty() ? null : all.stream().map(Certificate::pem).collect(Collectors.joining()),
        problems,
        all.stream().map(Certificate::end).min(Comparator.naturalOrder()).orElse(Instant.MAX));
  }

  private static void add(CaReference reference, CaObject.Name name, CaObject.Found found,
      Instant now, LinkedHashSet<Certificate> to, List<String> problems) {
    var key = "key " + reference.key() + " of " + name;
    var read = found.keys().get(reference.key());
    if (read == null) {
      problems.add("there is no " + key
          + (found.keys().isEmpty()
              ? ""
              : "; it has " + String.join(", ", new TreeSet<>(found.keys().keySet()))));
      return;
    }
    var certificates = read.all();
    if (read.isBroken()) {
      problems.add((certificates.isEmpty() ? "no certificate in PEM" : "not every certificate")
          + " can be read in " + key);
    }
    var current = certificates.stream().filter(one -> one.end().isAfter(now)).toList();
    to.addAll(current);
    if (current.isEmpty() && !certificates.isEmpty()) {
      problems.add("all certificates in " + key + " have expired, the last one at "
          + certificates.stream().map(Certificate::end).max(Comparator.naturalOrder())
              .orElseThrow());
    }
  }
}
