package dev.activator.discovery.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.discovery.policy.RevisionEndpointSlice.Subset;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.Yaml;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointSliceReaderTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  private List<String> remarks = List.of();
  private @Nullable String problem;

  private @Nullable RevisionEndpointSlice read(String labels, String rest) {
    var decoded = Yaml.decoded(KnativeKinds.ENDPOINT_SLICES, """
        metadata:
          namespace: ns
          name: rev-private-x7k2p
          labels: {serving.knative.dev/revision: rev, serving.knative.dev/revisionUID: "1234",
            %s}
        %s
        """.formatted(labels, rest));
    remarks = decoded.remarks();
    problem = decoded.problem();
    return decoded.value();
  }

  private @Nullable RevisionEndpointSlice ofPods(String ports, String endpoints) {
    return read("networking.internal.knative.dev/serviceType: Private, "
        + "kubernetes.io/service-name: rev-private",
        "addressType: IPv4\nports: " + ports + "\nendpoints: " + endpoints.replace("\n", " "));
  }

  private static Member member(String pod, String ip, Condition condition) {
    return new Member(pod, ip, condition);
  }

  @Test
  void readsAddressesWithTheirConditionsAndPods() {
    assertThat(ofPods("[{name: https, port: 8112}, {name: http, port: 8012}]",
        """
            [{addresses: [10.0.0.1], conditions: {ready: true}, targetRef: {kind: Pod, uid: p1, name: a}},
             {addresses: [10.0.0.2], conditions: {ready: false, serving: true, terminating: true},
              targetRef: {kind: Pod, name: b}}, {addresses: [10.0.0.3]}]
            """))
        .isEqualTo(new RevisionEndpointSlice(new Owner(REVISION, Role.PODS), "1234",
            List.of(new Subset(new Ports(8012, null),
                List.of(member("p1", "10.0.0.1", Condition.READY),
                    member("b", "10.0.0.2", Condition.TERMINATING),
                    member("", "10.0.0.3", Condition.READY))))));
    assertThat(remarks).isEmpty();
  }

  @Test
  void readsThoseOfActivators() {
    var slice = read("networking.internal.knative.dev/serviceType: Public, "
        + "kubernetes.io/service-name: rev", """
            ports: [{name: http2, port: 8013}]
            endpoints: [{addresses: ["fd00::1"]}]
            """);

    assertThat(Objects.requireNonNull(slice).owner().role()).isEqualTo(Role.ACTIVATORS);
    assertThat(slice.subsets().getFirst().ports()).isEqualTo(new Ports(null, 8013));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "networking.internal.knative.dev/serviceType: Other",
      "kubernetes.io/service-name: rev-private",
      "'networking.internal.knative.dev/serviceType: Private, kubernetes.io/service-name: other'",
      "'networking.internal.knative.dev/serviceType: Public, kubernetes.io/service-name: rev-private'"})
  void isOfNoConcernWithoutTheLabels(String labels) {
    assertThat(read(labels, "endpoints: []")).isNull();
    assertThat(remarks).isEmpty();
  }

  @ParameterizedTest(name = "ports {0}, endpoints {1}")
  @CsvSource(delimiter = '|', value = {
      "[{name: http, port: 8012}] | [{addresses: []}] | endpoints[0].addresses is empty",
      "[{name: http, port: 8012}] | [{}] | endpoints[0].addresses is empty",
      "[{name: http, port: 8012}] | [{addresses: [nowhere]}] "
          + "| endpoints[0].addresses[0] is no IP address: 'nowhere'",
      "[{name: http}]             | [{addresses: [10.0.0.1]}] "
          + "| its addresses, as no port of ports that has a number is named http or http2",
      "null                       | [{addresses: [10.0.0.1]}] "
          + "| its addresses, as no port of ports that has a number is named http or http2"})
  void leavesOutWhatCannotBeUsedWithARemark(String ports, String endpoints, String remark) {
    assertThat(ofPods(ports, endpoints)).isNotNull();
    assertThat(remarks).containsExactly(remark);
  }

  @Test
  void passesOverNamesInThePlaceOfAddresses() {
    assertThat(read("networking.internal.knative.dev/serviceType: Private", """
        addressType: FQDN
        ports: [{name: http, port: 8012}]
        endpoints: [{addresses: [pod.example.com]}]
        """)).isNull();
    assertThat(remarks).containsExactly("addressType FQDN: its addresses are names");
  }

  @ParameterizedTest(name = "{2}")
  @CsvSource(delimiter = '|', value = {
      "[{name: http, port: 0}] | []         | ports[0].port must be a port, 1 to 65535, not 0",
      "5                       | []         | ports must be a list, not 5",
      "[]                      | [text]     | endpoints[0] must be an object, not \"text\"",
      "[] | [{addresses: [[1]]}]            | endpoints[0].addresses[0] must be text, not [1]",
      "[] | [{addresses: [10.0.0.1], conditions: {ready: maybe}}] "
          + "| endpoints[0].conditions.ready must be true or false, not \"maybe\""})
  void namesTheFieldThatIsMalformed(String ports, String endpoints, String message) {
    assertThat(ofPods(ports, endpoints)).isNull();
    assertThat(problem).isEqualTo(message);
  }
}
