package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
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
  void otherHostsAreAskedForInOrder() {
    HostRule first = host -> host.equals("a") ? WEB : null;
    HostRule second = host -> new RevisionId("second", host);

    assertThat(first.or(second).revision("a")).isEqualTo(WEB);
    assertThat(first.or(second).revision("b")).isEqualTo(new RevisionId("second", "b"));
  }
}
