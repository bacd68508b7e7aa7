package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.policy.IpFamily;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServiceEndpointSliceTest {
  private static final RevisionId SERVICE = new RevisionId("shop", "svc");
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private static ServiceEndpointSlice slice(Member... members) {
    return new ServiceEndpointSlice(SERVICE, Map.of("http", 8080, "grpc", 8081), List.of(members),
        null);
  }

  @Test
  void theReadyAddressesOfAFamilyAreThoseOfPodsThatDoNotTerminate() {
    var slice = slice(new Member("a", "10.0.0.1", Condition.READY),
        new Member("b", "10.0.0.2", Condition.NOT_READY),
        new Member("c", "10.0.0.3", Condition.TERMINATING),
        new Member("a", "fd00::1", Condition.READY));

    assertThat(slice.ready(IpFamily.IPV4)).containsExactly("10.0.0.1");
    assertThat(slice.ready(IpFamily.IPV6)).containsExactly("fd00::1");
  }

  @Test
  void anAddressKeepsItsVersionUntilItsReadinessChanges() {
    var first = slice(new Member("a", "10.0.0.1", Condition.READY),
        new Member("b", "10.0.0.2", Condition.READY)).after(null, "7");
    assertThat(first.members()).extracting(Member::since).containsExactly("7", "7");

    var next = slice(new Member("a", "10.0.0.1", Condition.READY),
        new Member("b", "10.0.0.2", Condition.NOT_READY),
        new Member("c", "10.0.0.3", Condition.READY)).after(first, "9");
    assertThat(next.members()).extracting(Member::since).containsExactly("7", "9", "9");
    assertThat(next.service()).isEqualTo(SERVICE);
    assertThat(next.ports()).isEqualTo(first.ports());
  }

  @Test
  void isTheListingOfOnePort() {
    var grpc = slice(new Member("a", "10.0.0.1", Condition.READY)).on("grpc", WEB);

    assertThat(grpc.owner().revision()).isEqualTo(WEB);
    assertThat(grpc.subsets().getFirst().ports()).isEqualTo(new Ports(8081, 8081));
    assertThat(slice().on("other", WEB).subsets().getFirst().ports().isNone()).isTrue();
    assertThat(new Ports(1, null).isNone()).isFalse();
    assertThat(new Ports(null, 1).isNone()).isFalse();
  }
}
