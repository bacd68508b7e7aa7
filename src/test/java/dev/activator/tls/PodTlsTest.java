package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.LiveRevision;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.RevisionId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PodTlsTest {
  private static final RevisionId HELLO = new RevisionId("ns", "hello");
  private static final RevisionId OTHER = new RevisionId("elsewhere", "hello");
  private static final Destination POD = new Destination("10.0.0.1", 8012);
  private static final Destination SERVICE = new Destination("10.96.0.1", 80);

  private final TestRevisions revisions = new TestRevisions(new VirtualLoop());
  private final LiveRevision hello = revisions.begun(HELLO);
  private final LiveRevision other = revisions.begun(OTHER);
  private final PodTls tls = new PodTls(revisions.live);

  private static DialTarget target(String host, int port, String namespace) {
    return new DialTarget(new Destination(host, port), new PodIdentity.OfNamespace(namespace));
  }

  @Test
  void leavesPodsAloneUnlessItIsRequired() {
    assertThat(tls.target(POD, hello, null)).isEqualTo(DialTarget.plain(POD));
  }

  @Test
  @DisplayName("goes to the port that pods take TLS on")
  void goesToThePortForTls() {
    tls.require();
    assertThat(tls.target(POD, hello, null)).isEqualTo(target("10.0.0.1", 8112, "ns"));
    assertThat(tls.target(new Destination("10.0.0.1", 8013), other, null))
        .isEqualTo(target("10.0.0.1", 8112, "elsewhere"));
  }

  @Test
  @DisplayName("goes to the port that pods take TLS on, with IPv6 as well")
  void goesToThePortForTlsInIpv6() {
    tls.require();
    var target = tls.target(new Destination("2001:db8::1", 8012), hello, null);
    assertThat(target.destination()).hasToString("[2001:db8::1]:8112");
  }

  @Test
  void goesToThePortOfServicesWhereTheAddressIsAServices() {
    tls.require();
    tls.healthy(new HealthyDestinations(HELLO, SERVICE, DestinationSet.of(POD)));

    assertThat(tls.target(SERVICE, hello, null)).isEqualTo(target("10.96.0.1", 443, "ns"));
    assertThat(tls.target(POD, hello, null)).isEqualTo(target("10.0.0.1", 8112, "ns"));

    // What was decided before it was left may come after.
    tls.healthy(HealthyDestinations.pods(HELLO, DestinationSet.of(POD)));
    assertThat(tls.target(SERVICE, hello, null)).isEqualTo(target("10.96.0.1", 443, "ns"));

    revisions.remove(HELLO);
    assertThat(tls.target(SERVICE, hello, null)).isEqualTo(target("10.96.0.1", 8112, "ns"));
  }
}
