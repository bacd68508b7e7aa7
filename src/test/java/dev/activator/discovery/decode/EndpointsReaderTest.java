package dev.activator.discovery.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.Yaml;
import dev.activator.kube.policy.IpFamily;
import dev.activator.discovery.policy.MergedEndpoints;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointsReaderTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  private List<String> remarks = List.of();
  private @Nullable String problem;

  /** The pods or the public addresses it says; null if it is of no concern. */
  private @Nullable Object read(String serviceType, String subsets) {
    return read("""
        metadata:
          namespace: ns
          name: rev-private
          labels:
            serving.knative.dev/revision: rev
            serving.knative.dev/revisionUID: "1234"
            networking.internal.knative.dev/serviceType: %s
        subsets: %s
        """.formatted(serviceType, subsets));
  }

  private @Nullable Object read(String yaml) {
    var decoded = Yaml.decoded(KnativeKinds.ENDPOINTS, yaml);
    remarks = decoded.remarks();
    problem = decoded.problem();
    var set = decoded.value();
    if (set == null) {
      return null;
    }
    var merged = MergedEndpoints.of(List.of(set), "", IpFamily.IPV4);
    return switch (set.owner().role()) {
      case PODS -> merged.pods(REVISION);
      case ACTIVATORS -> merged.activators(REVISION);
    };
  }

  private static PrivateEndpoints pods(PodsByReadiness http1, PodsByReadiness h2c) {
    return new PrivateEndpoints(REVISION, http1, h2c);
  }

  private static DestinationSet of(String... pods) {
    return DestinationSet.of(Stream.of(pods).map(pod -> {
      int colon = pod.lastIndexOf(':');
      return new Destination(pod.substring(0, colon), Integer.parseInt(pod.substring(colon + 1)));
    }).toList());
  }

  private static PodsByReadiness ready(String... pods) {
    return new PodsByReadiness(of(pods), DestinationSet.NONE);
  }

  @Test
  @DisplayName("no subsets mean no pods")
  void noSubsetsMeanNoPods() {
    assertThat(read("Private", "[]")).isEqualTo(pods(PodsByReadiness.NONE, PodsByReadiness.NONE));
    assertThat(read("Private", "null")).isEqualTo(pods(PodsByReadiness.NONE, PodsByReadiness.NONE));
  }

  @Test
  @DisplayName("every address is taken with the port of that name")
  void takesEveryAddressWithThePortOfThatName() {
    assertThat(read("Private", """
        [{ports: [{name: https, port: 8112}, {name: http, port: 1234}],
          addresses: [{ip: 128.0.0.2}, {ip: 128.0.0.1, nodeName: here}, {ip: 128.0.0.2}]}]
        """)).isEqualTo(pods(ready("128.0.0.1:1234", "128.0.0.2:1234"), PodsByReadiness.NONE));
  }

  @Test
  @DisplayName("distinguishes ready from not ready")
  void distinguishesReadyFromNotReady() {
    assertThat(read("Private", """
        [{ports: [{name: http, port: 1234}], addresses: [{ip: 128.0.0.1}, {ip: 128.0.0.2}],
          notReadyAddresses: [{ip: 128.0.0.3}, {ip: 128.0.0.1}]}]
        """)).isEqualTo(
        pods(new PodsByReadiness(of("128.0.0.1:1234", "128.0.0.2:1234"), of("128.0.0.3:1234")),
            PodsByReadiness.NONE));
  }

  @Test
  @DisplayName("subsets without the port are left out")
  void leavesOutSubsetsWithoutThePort() {
    assertThat(read("Private", """
        [{ports: [{name: http, port: 1234}], addresses: [{ip: 128.0.0.1}]},
         {ports: [{name: http2, port: 5678}], addresses: [{ip: 128.0.0.2}]},
         {ports: [{name: other, port: 9}], addresses: [{ip: 128.0.0.3}]},
         {addresses: [{ip: 128.0.0.4}]}]
        """)).isEqualTo(pods(ready("128.0.0.1:1234"), ready("128.0.0.2:5678")));
  }

  @Test
  @DisplayName("an IPv6 address is written in brackets")
  void readsIpv6() {
    var addresses = read("Private", """
        [{ports: [{name: http, port: 8012}], addresses: [{ip: "2001:db8::1"}]}]
        """);

    assertThat(addresses).isEqualTo(pods(ready("2001:db8::1:8012"), PodsByReadiness.NONE));
    assertThat(new Destination("2001:db8::1", 8012)).hasToString("[2001:db8::1]:8012");
  }

  @ParameterizedTest
  @CsvSource({"'2001:db8:0:0:0:0:0:1', 2001:db8::1", "'2001:DB8::0:1', 2001:db8::1",
      "'0:0:0:0:0:0:0:1', ::1", "'2001:db8:0:1::', 2001:db8:0:1::",
      "'2001:db8:0:1:1:1:1:1', 2001:db8:0:1:1:1:1:1",
      "'2001:0:0:1:0:0:0:1', 2001:0:0:1::1", "'0:0:1:0:0:1:1:1', ::1:0:0:1:1:1", "'0::0', ::",
      "'::ffff:10.0.0.1', 10.0.0.1"})
  void readsEachSpellingOfAnAddressAsOneAddress(String ip, String canonical) {
    assertThat(read("Private", """
        [{ports: [{name: http, port: 8012}], addresses: [{ip: "%s"}, {ip: "%s"}]}]
        """.formatted(ip, canonical)))
        .isEqualTo(pods(ready(canonical + ":8012"), PodsByReadiness.NONE));
  }

  @ParameterizedTest(name = "\"{0}\"")
  @CsvSource({"not-an-ip", "''", "1", "256.1.1.1", "127.0.6.07", "1.2.3", "1:2:3", "'::1%eth0'"})
  void leavesOutWhatIsNoIpAddressWithARemark(String ip) {
    assertThat(read("Private", """
        [{ports: [{name: http, port: 8012}], addresses: [{ip: "%s"}, {ip: 10.0.0.1}]}]
        """.formatted(ip))).isEqualTo(pods(ready("10.0.0.1:8012"), PodsByReadiness.NONE));
    assertThat(remarks)
        .containsExactly("subsets[0].addresses[0].ip is no IP address: '" + ip + "'");
  }

  @Test
  void saysThatAddressesAreMissingWithoutAPortOfAName() {
    assertThat(read("Private", """
        [{ports: [{name: other, port: 9}], addresses: [{ip: 128.0.0.3}]},
         {ports: [{name: other, port: 9}]}, {notReadyAddresses: [{ip: 128.0.0.4}]}]
        """)).isEqualTo(pods(PodsByReadiness.NONE, PodsByReadiness.NONE));
    assertThat(remarks).containsExactly(
        "its addresses, as no port of subsets[0].ports that has a number is named http or http2",
        "its addresses, as no port of subsets[2].ports that has a number is named http or http2");
  }

  @Test
  void leavesOutAddressesWhosePortHasNoNumber() {
    assertThat(read("Private", """
        [{ports: [{name: http}], addresses: [{ip: 128.0.0.3}]}, {addresses: [{}]}]
        """)).isEqualTo(pods(PodsByReadiness.NONE, PodsByReadiness.NONE));
    assertThat(remarks).containsExactly(
        "its addresses, as no port of subsets[0].ports that has a number is named http or http2",
        "subsets[1].addresses[0].ip is missing",
        "its addresses, as no port of subsets[1].ports that has a number is named http or http2");
  }

  @Test
  void saysThatItWasCutOff() {
    read("""
        metadata:
          namespace: ns
          name: rev-private
          labels: {serving.knative.dev/revision: rev, serving.knative.dev/revisionUID: u,
            networking.internal.knative.dev/serviceType: Private}
          annotations: {endpoints.kubernetes.io/over-capacity: truncated}
        """);

    assertThat(remarks).containsExactly("all but 1,000 of its addresses, as"
        + " endpoints.kubernetes.io/over-capacity says; EndpointSlices have them all"
        + " (activator.endpoints-source)");
  }

  @Test
  void ofAPublicServiceOnlyReadyAddressesCount() {
    assertThat(read("Public", """
        [{ports: [{name: http, port: 8012}], addresses: [{ip: 10.0.0.2}, {ip: 10.0.0.1}],
          notReadyAddresses: [{ip: 10.0.0.3}]},
         {ports: [{name: http2, port: 8013}], addresses: [{ip: 10.0.0.9}]}]
        """)).isEqualTo(
        new PublicEndpointAddresses(REVISION, List.of("10.0.0.1", "10.0.0.2"),
            List.of("10.0.0.9")));
  }

  @Test
  @DisplayName("Endpoints without the labels are of no concern")
  void isOfNoConcernWithoutTheLabels() {
    assertThat(read("Other", "[]")).isNull();
    assertThat(read("metadata: {namespace: ns, name: x}"))
        .isNull();
    assertThat(read("""
        metadata:
          namespace: ns
          labels:
            serving.knative.dev/revision: rev
            networking.internal.knative.dev/serviceType: Private
        """)).isNull();
    assertThat(read("""
        metadata:
          namespace: ns
          labels: {serving.knative.dev/revision: rev, serving.knative.dev/revisionUID: u}
        """)).isNull();
    assertThat(read("""
        metadata:
          namespace: ns
          labels: {networking.internal.knative.dev/serviceType: Public}
        subsets: [{ports: [{name: http, port: 8012}], addresses: [{ip: 10.0.0.1}]}]
        """)).isNull();
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(delimiter = '|', value = {
      "5                                              | subsets must be a list, not 5",
      "[{ports: [{name: http, port: 0}], addresses: []}] "
          + "| subsets[0].ports[0].port must be a port, 1 to 65535, not 0",
      "[{ports: [{name: http, port: http}]}] "
          + "| subsets[0].ports[0].port must be a whole number, 0 or more, not \"http\"",
      "[text]                                         | subsets[0] must be an object, not \"text\"",
      "[{ports: [{name: http, port: 1}], addresses: [{ip: [1]}]}] "
          + "| subsets[0].addresses[0].ip must be text, not [1]"})
  void namesTheFieldThatIsMalformed(String subsets, String message) {
    assertThat(read("Private", subsets)).isNull();
    assertThat(problem).isEqualTo(message);
  }
}
