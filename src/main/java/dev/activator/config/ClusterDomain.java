package dev.activator.config;

import java.util.List;
import java.util.stream.Stream;

/**
 * Finds the DNS domain of the cluster in the configuration of this pod's resolver.
 *
 * <p><b>Source.</b> {@code GetClusterDomainName} in {@code knative.dev/pkg/network}.
 */
public final class ClusterDomain {
  private static final String DEFAULT = "cluster.local";
  private static final String SERVICES = "svc.";

  private ClusterDomain() {}

  /**
   * @param set {@code CLUSTER_DOMAIN}; may be empty
   * @param resolver lines of {@code /etc/resolv.conf}
   */
  public static String of(String set, List<String> resolver) {
    return set.isBlank()
        ? resolver.stream().flatMap(ClusterDomain::searched).findFirst().orElse(DEFAULT)
        : set.strip();
  }

  private static Stream<String> searched(String line) {
    var words = List.of(line.strip().split("\\s+"));
    return words.getFirst().equals("search")
        ? words.stream().skip(1).filter(word -> word.startsWith(SERVICES))
            .map(word -> withoutDot(word.substring(SERVICES.length())))
        : Stream.empty();
  }

  private static String withoutDot(String domain) {
    return domain.endsWith(".") ? domain.substring(0, domain.length() - 1) : domain;
  }
}
