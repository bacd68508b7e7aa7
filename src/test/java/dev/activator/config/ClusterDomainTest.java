package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterDomainTest {
  private static final List<String> RESOLVER = List.of("nameserver 10.96.0.10",
      "search default.svc.corp.example svc.corp.example. corp.example", "options ndots:5");

  @Test
  void isTheOneThatIsSet() {
    assertThat(ClusterDomain.of("set.example", RESOLVER)).isEqualTo("set.example");
  }

  @Test
  void isElseTheOneTheResolverSearchesServicesIn() {
    assertThat(ClusterDomain.of("", RESOLVER)).isEqualTo("corp.example");
  }

  @Test
  void isElseTheUsualOne() {
    assertThat(ClusterDomain.of("", List.of())).isEqualTo("cluster.local");
    assertThat(ClusterDomain.of(" ", List.of("search home.example", "# search svc.not.this")))
        .isEqualTo("cluster.local");
  }
}
