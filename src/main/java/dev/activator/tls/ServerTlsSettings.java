package dev.activator.tls;

import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * The TLS settings of a port, in Java's names.
 *
 * @param cipherSuites empty for the runtime's defaults
 * @param groups preferred first; empty for the runtime's defaults
 * @param weaker the warning that some of the chosen groups are missing here; null if none is
 */
public record ServerTlsSettings(List<String> versions, List<String> cipherSuites,
    List<String> groups, @Nullable String weaker) {
  /**
   * Parses Knative's variables.
   *
   * @param prefix such as {@code ACTIVATOR_TLS_}
   * @param cipherSuites separated by commas
   * @param curves separated by commas
   * @throws IllegalArgumentException naming the variable
   */
  public static ServerTlsSettings of(String prefix, String minVersion, String maxVersion,
      String cipherSuites, String curves) {
    var names = new CipherSuiteNames(prefix, Runtime.version().feature());
    return new ServerTlsSettings(names.versions(minVersion, maxVersion),
        names.cipherSuites(cipherSuites),
        names.groups(curves), names.weaker(curves));
  }

  public SslContextBuilder context(CertifiedKey certificate) {
    return SslContextBuilder.forServer(certificate.key(), certificate.chain())
        .sslProvider(SslProvider.JDK)
        .protocols(versions).ciphers(cipherSuites.isEmpty() ? null : cipherSuites);
  }

  /** Sets the groups, which cannot be set in a context. */
  public void prepare(SSLEngine connection) {
    if (!groups.isEmpty()) {
      var parameters = connection.getSSLParameters();
      parameters.setNamedGroups(groups.toArray(String[]::new));
      connection.setSSLParameters(parameters);
    }
  }

  /**
   * Translates Knative's names of cipher suites, curves and TLS versions to Java's names.
   *
   * <p><b>Errors.</b> {@link IllegalArgumentException} naming the variable.
   *
   * <p><b>Source.</b> {@code network/tls} in {@code knative.dev/pkg}; {@code CipherSuites} and
   * {@code CurveID} in Go's {@code crypto/tls}.
   */
  static final class CipherSuiteNames {
    private static final List<String> VERSIONS = List.of("1.2", "1.3");
    /** The suites of TLS 1.3. As in Go, they cannot be switched off. */
    private static final List<String> SUITES_OF_13 = List.of("TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");
    private static final List<String> SUITES_OF_12 = List.of(
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256");
    private static final Map<String, String> CURVES = Map.of("X25519", "x25519", "P-256",
        "secp256r1", "CurveP256", "secp256r1", "P-384", "secp384r1", "CurveP384", "secp384r1",
        "P-521", "secp521r1", "CurveP521", "secp521r1");
    /** The hybrids of an elliptic curve and ML-KEM. Go and Java have the same names for them. */
    private static final List<String> HYBRIDS = List.of("X25519MLKEM768", "SecP256r1MLKEM768",
        "SecP384r1MLKEM1024");
    /** The first Java with the hybrids: JEP 527. */
    private static final int HYBRIDS_SINCE = 27;

    private final String prefix;
    private final int java;

    /** @param java the feature version of the runtime, such as 25 */
    CipherSuiteNames(String prefix, int java) {
      this.prefix = prefix;
      this.java = java;
    }

    /** The versions between these two, oldest first. */
    List<String> versions(String min, String max) {
      check("MIN_VERSION", min, VERSIONS::contains, VERSIONS);
      check("MAX_VERSION", max, VERSIONS::contains, VERSIONS);
      if (VERSIONS.indexOf(min) > VERSIONS.indexOf(max)) {
        throw new IllegalArgumentException(prefix + "MIN_VERSION is '" + min + "', but "
            + prefix + "MAX_VERSION is " + max);
      }
      return VERSIONS.subList(VERSIONS.indexOf(min), VERSIONS.indexOf(max) + 1).stream()
          .map(version -> "TLSv" + version).toList();
    }

    /** The suites in the list and all suites of TLS 1.3; empty for an empty list. */
    List<String> cipherSuites(String list) {
      var names = names(list);
      if (names.isEmpty()) {
        return List.of();
      }
      names.forEach(name -> check("CIPHER_SUITES", name,
          one -> SUITES_OF_12.contains(one) || SUITES_OF_13.contains(one), SUITES_OF_12));
      var suites = new ArrayList<>(SUITES_OF_13);
      names.stream().filter(SUITES_OF_12::contains).forEach(suites::add);
      return List.copyOf(suites);
    }

    /** The groups in the list that this Java has; empty for an empty list. */
    List<String> groups(String list) {
      var names = names(list);
      names.forEach(name -> check("CURVE_PREFERENCES", name,
          one -> CURVES.containsKey(one) || HYBRIDS.contains(one),
          Stream.concat(CURVES.keySet().stream().sorted(), HYBRIDS.stream()).toList()));
      var known = names.stream().filter(name -> !isMissing(name))
          .map(name -> CURVES.getOrDefault(name, name)).distinct().toList();
      if (known.isEmpty() && !names.isEmpty()) {
        throw new IllegalArgumentException(prefix + "CURVE_PREFERENCES is '" + list
            + "', but Java " + java + " has none of these, which came with Java " + HYBRIDS_SINCE
            + ": add one of " + String.join(", ", CURVES.keySet().stream().sorted().toList()));
      }
      return known;
    }

    /** The warning that this Java lacks groups in the list; null if it has all. */
    @Nullable String weaker(String list) {
      var missing = names(list).stream().filter(this::isMissing).toList();
      return missing.isEmpty()
          ? null
          : prefix + "CURVE_PREFERENCES has " + String.join(", ", missing) + ", which Java " + java
              + " does not have: connections are made without (Java " + HYBRIDS_SINCE + " has it)";
    }

    private boolean isMissing(String group) {
      return java < HYBRIDS_SINCE && HYBRIDS.contains(group);
    }

    private static List<String> names(String list) {
      return Arrays.stream(list.split(",")).map(String::strip).filter(name -> !name.isEmpty())
          .toList();
    }

    private void check(String setting, String value, Predicate<String> known,
        List<String> choice) {
      if (!known.test(value)) {
        throw new IllegalArgumentException(
            prefix + setting + " is '" + value + "', but must be one of "
                + String.join(", ", choice));
      }
    }
  }
}
