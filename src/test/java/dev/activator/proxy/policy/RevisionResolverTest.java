package dev.activator.proxy.policy;

import dev.activator.proxy.policy.RevisionResolver.HostRouter;
import dev.activator.http.HeaderFieldList;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RevisionResolverTest {
  private static final RevisionId REAL = new RevisionId("real-namespace", "real-name");
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final RevisionResolver HOSTS = new RevisionResolver.Hosts(
      new HostRouter() {
        @Override
        public RevisionId revision(String host, String target, HeaderFieldList fields) {
          return host.equals("shop.example.com") && target.startsWith("/api") ? WEB : null;
        }

        @Override
        public boolean isKnown(String host) {
          return host.equals("shop.example.com");
        }
      });
  private static final HeaderFieldList HEADERS = MapFields.of("Knative-Serving-Revision", "other",
      "Knative-Serving-Namespace", "other");

  private static RevisionId knative(String host, String... namesAndValues) {
    return new RevisionResolver.Knative("cluster.local", (_, _, _) -> null)
        .of(MapFields.of(namesAndValues), host, "/");
  }

  @Test
  void withoutKnativeOnlyTheHostCounts() {
    assertThat(HOSTS.of(HEADERS, "shop.example.com", "/api")).isEqualTo(WEB);
    assertThat(HOSTS.of(HEADERS, "other.other.svc.cluster.local", "/api")).isNull();
  }

  @Test
  void anUnknownHostIsNotFound() {
    var answer = HOSTS.unknown(HEADERS, "other.example.com:80", "/api", null).answer();

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.body())
        .isEqualTo("404 Not Found: no service has the host other.example.com:80\n");
    assertThat(answer.headers()).containsEntry("K-Activator-Reason", "unknown-host");
  }

  @Test
  void aRequestThatNoRuleOfAKnownHostMatchesIsNotFound_andItsQueryIsNotRepeated() {
    var answer = HOSTS.unknown(HEADERS, "shop.example.com", "/cart?token=secret", null).answer();

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.body()).isEqualTo("404 Not Found: no rule for the host shop.example.com"
        + " matches the path /cart and the headers\n");
    assertThat(answer.headers()).containsEntry("K-Activator-Reason", "no-rule");
  }

  @Test
  void repeatsLittleOfALongPath() {
    var answer = HOSTS.unknown(HEADERS, "shop.example.com", "/" + "a".repeat(10_000), null)
        .answer();

    assertThat(answer.body()).hasSizeLessThan(400).contains("aaa… and the headers");
  }

  @Test
  void onThisMachineServicesComeFirstAndAnUnknownHostGetsTheKnownOnes() {
    var local = new RevisionResolver.Local(
        (host, _, _) -> host.equals("web.shop.localhost") ? WEB : null,
        new RevisionResolver.Knative("cluster.local", (_, _, _) -> null),
        host -> host.equals("old.shop.localhost") ? ": it was deleted" : "; there is b.c");
    var none = MapFields.of();

    assertThat(local.of(none, "web.shop.localhost", "/")).isEqualTo(WEB);
    assertThat(local.of(none, "web-00001.shop.svc.cluster.local", "/"))
        .isEqualTo(new RevisionId("shop", "web-00001"));
    assertThat(local.of(HEADERS, "web.shop.localhost", "/")).isNotEqualTo(WEB);
    assertThat(local.unknown(none, "a.b", "/", null).answer().body())
        .isEqualTo("404 Not Found: no service has"
            + " the host a.b; there is b.c\n");
    assertThat(local.unknown(none, "old.shop.localhost", "/", null).answer().body())
        .isEqualTo("404 Not Found: no service has the host old.shop.localhost: it was deleted\n");
    assertThat(local.unknown(HEADERS, "a.b", "/", WEB))
        .isEqualTo(RequestFailure.unknownRevision(WEB.name()));
  }

  @Test
  @DisplayName("is in the two headers")
  void isInTheTwoHeaders() {
    assertThat(knative("a.b.svc.cluster.local", "Knative-Serving-Revision", "real-name",
        "Knative-Serving-Namespace", "real-namespace")).isEqualTo(REAL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"real-name.real-namespace.svc.cluster.local",
      "real-name.real-namespace.svc.cluster.local:80"})
  @DisplayName("is in the host of a Service")
  void isInTheHostOfAService(String host) {
    assertThat(knative(host)).isEqualTo(REAL);
  }

  @Test
  @DisplayName("is whole in the host where a header is missing")
  void isWholeInTheHostWhereAHeaderIsMissing() {
    assertThat(
        knative("real-name.real-namespace.svc.cluster.local", "Knative-Serving-Revision", "other"))
        .isEqualTo(REAL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "rev.ns", "rev.ns.svc", "rev.ns.svc.example.com",
      "rev.ns.pod.cluster.local", "rev.ns.svc.cluster.local.", ".ns.svc.cluster.local"})
  @DisplayName("is in no other host")
  void isInNoOtherHost(String host) {
    assertThat(knative(host)).isNull();
  }

  @Test
  void mayBeInOtherHostsByARuleOfTheirOwn() {
    HostRouter rule = (host, _, _) -> host.equals("hello.default.localhost:8012") ? REAL : null;

    var names = new RevisionResolver.Knative("cluster.local", rule);

    assertThat(names.of(MapFields.of(), "hello.default.localhost:8012", "/")).isEqualTo(REAL);
    assertThat(names.of(MapFields.of("Knative-Serving-Revision", "r",
        "Knative-Serving-Namespace", "n"), "hello.default.localhost:8012", "/"))
        .isEqualTo(new RevisionId("n", "r"));
  }
}
