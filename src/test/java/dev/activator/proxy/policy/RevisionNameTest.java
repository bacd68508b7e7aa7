package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RevisionNameTest {
  private static final RevisionId REAL = new RevisionId("real-namespace", "real-name");

  private static RevisionId of(String host, String... namesAndValues) {
    return RevisionName.of(MapFields.of(namesAndValues), host, "cluster.local", HostRule.NONE);
  }

  @Test
  @DisplayName("CH-01 is in the two headers")
  void isInTheTwoHeaders() {
    assertThat(of("a.b.svc.cluster.local", "Knative-Serving-Revision", "real-name",
        "Knative-Serving-Namespace", "real-namespace")).isEqualTo(REAL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"real-name.real-namespace.svc.cluster.local",
      "real-name.real-namespace.svc.cluster.local:80"})
  @DisplayName("CH-02 CH-03 is in the host of a Service")
  void isInTheHostOfAService(String host) {
    assertThat(of(host)).isEqualTo(REAL);
  }

  @Test
  @DisplayName("CH-06 is whole in the host where a header is missing")
  void isWholeInTheHostWhereAHeaderIsMissing() {
    assertThat(
        of("real-name.real-namespace.svc.cluster.local", "Knative-Serving-Revision", "other"))
        .isEqualTo(REAL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "rev.ns", "rev.ns.svc", "rev.ns.svc.example.com",
      "rev.ns.pod.cluster.local", "rev.ns.svc.cluster.local.", ".ns.svc.cluster.local"})
  @DisplayName("CH-07 is in no other host")
  void isInNoOtherHost(String host) {
    assertThat(of(host)).isNull();
  }

  @Test
  void mayBeInOtherHostsByARuleOfTheirOwn() {
    HostRule rule = host -> host.equals("hello.default.localhost:8012") ? REAL : null;

    assertThat(
        RevisionName.of(MapFields.of(), "hello.default.localhost:8012", "cluster.local", rule))
        .isEqualTo(REAL);
    assertThat(RevisionName.of(MapFields.of("Knative-Serving-Revision", "r",
        "Knative-Serving-Namespace", "n"), "hello.default.localhost:8012", "cluster.local", rule))
        .isEqualTo(new RevisionId("n", "r"));
  }
}
