package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import java.util.List;
import org.junit.jupiter.api.Test;

class RevisionNamesTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final RevisionNames HOSTS = new RevisionNames.Hosts(
      host -> host.equals("shop.example.com") ? WEB : null);
  private static final Fields HEADERS = MapFields.of("Knative-Serving-Revision", "other",
      "Knative-Serving-Namespace", "other");

  @Test
  void withoutKnativeOnlyTheHostCounts() {
    assertThat(HOSTS.of(HEADERS, "shop.example.com")).isEqualTo(WEB);
    assertThat(HOSTS.of(HEADERS, "other.other.svc.cluster.local")).isNull();
  }

  @Test
  void anUnknownHostIsNotFound() {
    var answer = HOSTS.unknown(HEADERS, null).answer();

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.body()).isEqualTo("404 Not Found: no service has this host\n");
    assertThat(answer.headers()).containsEntry("K-Activator-Reason", "unknown-host");
  }

  @Test
  void onThisMachineServicesComeFirstAndAnUnknownHostIsToldWhichThereAre() {
    var local = new RevisionNames.Local(host -> host.equals("web.shop.localhost") ? WEB : null,
        new RevisionNames.Knative("cluster.local", HostRule.NONE),
        () -> List.of("web.shop.localhost", "hello.default.localhost"));
    var none = MapFields.of();

    assertThat(local.of(none, "web.shop.localhost")).isEqualTo(WEB);
    assertThat(local.of(none, "web-00001.shop.svc.cluster.local"))
        .isEqualTo(new RevisionId("shop", "web-00001"));
    assertThat(local.of(HEADERS, "web.shop.localhost")).isNotEqualTo(WEB);
    assertThat(local.unknown(none, null).answer().body()).isEqualTo("404 Not Found: no service has"
        + " this host; there are web.shop.localhost, hello.default.localhost\n");
    assertThat(local.unknown(HEADERS, WEB)).isInstanceOf(Failure.UnknownRevision.class);
  }

  @Test
  void otherHostsAreAskedForInOrder() {
    HostRule first = host -> host.equals("a") ? WEB : null;
    HostRule second = host -> new RevisionId("second", host);

    assertThat(first.or(second).revision("a")).isEqualTo(WEB);
    assertThat(first.or(second).revision("b")).isEqualTo(new RevisionId("second", "b"));
  }
}
