package dev.activator.discovery.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.policy.IpFamily;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.revision.Destination;
import dev.activator.revision.PodsByReadiness.Identity;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MergedEndpointsTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");
  private static final Owner PODS = new Owner(REVISION, Role.PODS);

  /** Members such as {@code p1=10.0.0.1/ready}, or {@code =10.0.0.1/ready} for no pod's name. */
  private static RevisionEndpointSlice slice(String uid, Ports ports, String members) {
    List<Member> all = members.isBlank()
        ? List.of()
        : Stream.of(members.split(" ")).map(MergedEndpointsTest::member).toList();
    return new RevisionEndpointSlice(PODS, uid, List.of(new Subset(ports, all)));
  }

  private static Member member(String text) {
    var parts = text.split("[=/]");
    return new Member(parts[0], parts[1],
        Condition.valueOf(parts[2].toUpperCase(java.util.Locale.ROOT).replace('-', '_')));
  }

  private static String listed(RevisionEndpointSlice... slices) {
    var listing = MergedEndpoints.of(List.of(slices), "", IpFamily.IPV4).pods(REVISION).http1();
    return listing.ready() + " " + listing.notReady();
  }

  private static final Ports HTTP = new Ports(8012, null);

  @ParameterizedTest(name = "{0} | {1} gives {2}")
  @CsvSource(delimiter = '|', nullValues = "-", value = {
      // nothing, and one after the other
      "''                                  | ''                   | [] []",
      "p1=10.0.0.1/ready                   | ''                   | [10.0.0.1:8012] []",
      "p1=10.0.0.1/not-ready               | ''                   | [] [10.0.0.1:8012]",
      // several slices are one listing, and a pod in two of them is one pod
      "p1=10.0.0.1/ready                   | p2=10.0.0.2/ready    | [10.0.0.1:8012, 10.0.0.2:8012] []",
      "p1=10.0.0.1/ready                   | p1=10.0.0.1/ready    | [10.0.0.1:8012] []",
      "=10.0.0.1/ready                     | =10.0.0.1/ready      | [10.0.0.1:8012] []",
      // ready in one of the two is ready
      "p1=10.0.0.1/not-ready               | p1=10.0.0.1/ready    | [10.0.0.1:8012] []",
      "=10.0.0.1/ready                     | =10.0.0.1/not-ready  | [10.0.0.1:8012] []",
      // a pod that ends gets nothing while another is ready
      "p1=10.0.0.1/terminating                 | p2=10.0.0.2/ready    | [10.0.0.2:8012] []",
      "p1=10.0.0.1/gone                    | p2=10.0.0.2/ready    | [10.0.0.2:8012] []",
      // ... and serves on while none is
      "p1=10.0.0.1/terminating                 | ''                   | [10.0.0.1:8012] []",
      "p1=10.0.0.1/terminating                 | p2=10.0.0.2/not-ready | [10.0.0.1:8012] [10.0.0.2:8012]",
      "p1=10.0.0.1/gone                    | ''                   | [] []",
      // a slice that is behind does not bring back what ends
      "p1=10.0.0.1/ready                   | p1=10.0.0.1/terminating  | [10.0.0.1:8012] []",
      "p1=10.0.0.1/ready p2=10.0.0.2/ready | p1=10.0.0.1/terminating  | [10.0.0.2:8012] []",
      "p1=10.0.0.1/ready                   | p1=10.0.0.1/gone     | [] []",
      // an address that passes from one pod to the next
      "p1=10.0.0.1/gone                    | p2=10.0.0.1/ready    | [10.0.0.1:8012] []",
      "p1=10.0.0.1/terminating                 | p2=10.0.0.1/not-ready | [] [10.0.0.1:8012]",
      // two families: one address a pod, the preferred one where there is one
      "p1=10.0.0.1/ready                   | p1=fd00::1/ready     | [10.0.0.1:8012] []",
      "p1=10.0.0.1/ready                   | p2=fd00::2/ready     | [10.0.0.1:8012, [fd00::2]:8012] []",
      "p1=fd00::1/ready                    | ''                   | [[fd00::1]:8012] []",
      "p1=10.0.0.1/ready                   | p1=fd00::1/gone      | [] []",
      "=10.0.0.1/ready                     | =fd00::1/ready       | [10.0.0.1:8012] []",
      "=fd00::1/ready                      | =fd00::2/ready       | [[fd00::1]:8012, [fd00::2]:8012] []"})
  void isOneListing(String one, String other, String expected) {
    assertThat(listed(slice("u", HTTP, one), slice("u", HTTP, other))).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0} since {1}, {2} since {3}: {4} since {5}")
  @CsvSource(delimiter = '|', nullValues = "-", value = {
      "p1=10.0.0.1/ready    | 3 | p1=10.0.0.1/ready     | 5 | p1 | 5",
      "p1=10.0.0.1/ready    | 5 | p1=10.0.0.1/ready     | 3 | p1 | 5",
      // an address that passes from one pod to the next
      "p1=10.0.0.1/terminating  | 5 | p2=10.0.0.1/ready     | 3 | p2 | 3",
      "p2=10.0.0.1/ready    | 3 | p1=10.0.0.1/terminating   | 5 | p2 | 3",
      "p1=10.0.0.1/gone     | 5 | p2=10.0.0.1/not-ready | 3 | p2 | 3",
      "p1=10.0.0.1/gone     | 5 | p1=10.0.0.1/gone      | 5 | -  | -",
      // neither which pod it is nor since when is known
      "=10.0.0.1/ready      | ''| =10.0.0.1/ready       | ''| -  | -"})
  void saysWhichPodIsAtAnAddressAndSinceWhen(String one, String oneSince, String other,
      String otherSince, @Nullable String pod, @Nullable String since) {
    var slices = List.of(slice("u", HTTP, one).after(null, oneSince),
        slice("u", HTTP, other).after(null, otherSince));

    assertThat(MergedEndpoints.of(slices, "", IpFamily.IPV4).pods(REVISION).http1().identities())
        .isEqualTo(pod == null
            ? Map.of()
            : Map.of(new Destination("10.0.0.1", 8012), new Identity(pod, since)));
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"10.0.0.1, IPV4", "fd00::1, IPV6", "::1, IPV6"})
  void knowsTheFamilyOfAnAddress(String ip, IpFamily family) {
    assertThat(IpFamily.of(ip)).isEqualTo(family);
  }

  @Test
  void saysOfAPodThatItEnds() {
    var listing = MergedEndpoints.of(
        List.of(slice("u", HTTP, "p1=10.0.0.1/terminating p2=10.0.0.2/not-ready")), "",
        IpFamily.IPV4).pods(REVISION).http1();

    assertThat(listing.ending()).hasToString("[10.0.0.1:8012]");
  }

  @Test
  void takesTheFamilyThatIsPreferred() {
    var both = List.of(slice("u", HTTP, "p1=10.0.0.1/ready p2=10.0.0.2/ready"),
        slice("u", HTTP, "p1=fd00::1/ready"));

    assertThat(MergedEndpoints.of(both, "", IpFamily.IPV6).pods(REVISION).http1().ready())
        .hasToString("[10.0.0.2:8012, [fd00::1]:8012]");
  }

  @Test
  void keepsProtocolsApartAndPassesOverWhatHasNoPort() {
    var slices = MergedEndpoints.of(
        List.of(slice("u", HTTP, "p1=10.0.0.1/ready"),
            slice("u", new Ports(null, 8013), "p2=10.0.0.2/ready"),
            slice("u", new Ports(null, null), "p3=10.0.0.3/ready")),
        "", IpFamily.IPV4);

    assertThat(slices.pods(REVISION).http1().ready()).hasToString("[10.0.0.1:8012]");
    assertThat(slices.pods(REVISION).h2c().ready()).hasToString("[10.0.0.2:8013]");
  }

  @Test
  void countsOnlyReadyActivators() {
    var slices = MergedEndpoints.of(
        List.of(slice("u", HTTP, "=10.0.0.2/ready =10.0.0.1/ready =10.0.0.3/not-ready")), "",
        IpFamily.IPV4);

    assertThat(slices.activators(REVISION).http1()).containsExactly("10.0.0.1", "10.0.0.2");
    assertThat(slices.activators(REVISION).h2c()).isEmpty();
  }

  @ParameterizedTest(name = "of revision {0}: {1}")
  @CsvSource(delimiter = '|', value = {"''| [10.0.0.1:8012, 10.0.0.2:8012, 10.0.0.3:8012]",
      "old | [10.0.0.1:8012, 10.0.0.3:8012]", "new | [10.0.0.2:8012, 10.0.0.3:8012]"})
  void inheritsNothingFromARevisionOfTheSameName(String uid, String ready) {
    var slices = MergedEndpoints.of(List.of(slice("old", HTTP, "p1=10.0.0.1/ready"),
        slice("new", HTTP, "p2=10.0.0.2/ready"), slice("", HTTP, "p3=10.0.0.3/ready")), uid,
        IpFamily.IPV4);

    assertThat(slices.pods(REVISION).http1().ready()).hasToString(ready);
  }

  @ParameterizedTest(name = "ready {0}, serving {1}, terminating {2} is {3}")
  @CsvSource(nullValues = "-", value = {"-,-,-,READY", "true,-,-,READY", "false,-,-,NOT_READY",
      "true,true,false,READY", "false,true,false,NOT_READY", "false,false,false,NOT_READY",
      "true,false,false,NOT_READY", "true,false,-,NOT_READY",
      "false,true,true,TERMINATING", "false,false,true,GONE", "false,-,true,GONE",
      "-,-,true,TERMINATING",
      "true,true,true,TERMINATING"})
  void readsConditionsAsTheApiMeansThem(@Nullable Boolean ready, @Nullable Boolean serving,
      @Nullable Boolean terminating, Condition expected) {
    assertThat(Condition.of(ready, serving, terminating)).isEqualTo(expected);
  }
}
