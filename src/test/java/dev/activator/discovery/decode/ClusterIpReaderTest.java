package dev.activator.discovery.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.Yaml;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ClusterIpReaderTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  private static @Nullable PrivateClusterIp read(String name, String spec) {
    return read(name, spec, new ArrayList<>());
  }

  private static @Nullable PrivateClusterIp read(String name, String spec, List<String> remarks) {
    var decoded = Yaml.decoded(KnativeKinds.SERVICES, """
        metadata:
          namespace: ns
          name: %s
          labels:
            serving.knative.dev/revision: rev
            networking.internal.knative.dev/serviceType: Private
        spec: %s
        """.formatted(name, spec));
    remarks.addAll(decoded.remarks());
    return decoded.value();
  }

  @Test
  @DisplayName("the port of each protocol is found")
  void findsThePortOfEachProtocol() {
    assertThat(read("rev-private", """
        {clusterIP: 129.0.0.1, ports: [{name: https, port: 443}, {name: http, port: 100}]}
        """)).isEqualTo(new PrivateClusterIp(REVISION, new Destination("129.0.0.1", 100), null));
    assertThat(read("rev-private", """
        {clusterIP: 129.0.0.1, ports: [{name: http2, port: 80}]}
        """)).isEqualTo(new PrivateClusterIp(REVISION, null, new Destination("129.0.0.1", 80)));
  }

  @Test
  @DisplayName("without the port there is no address")
  void findsNoneWithoutThePort() {
    assertThat(read("rev-private", "{clusterIP: 129.0.0.1, ports: [{name: invalid, port: 1}]}"))
        .isEqualTo(new PrivateClusterIp(REVISION, null, null));
  }

  @Test
  void findsNoneWithoutAnAddress() {
    var none = new PrivateClusterIp(REVISION, null, null);

    assertThat(read("rev-private", "{clusterIP: None, ports: [{name: http, port: 80}]}"))
        .isEqualTo(none);
    assertThat(read("rev-private", "{ports: [{name: http, port: 80}]}")).isEqualTo(none);
    assertThat(read("rev-private", "null")).isEqualTo(none);
  }

  @Test
  void findsNoneAndSaysSoWhereTheAddressIsNone() {
    var remarks = new ArrayList<String>();

    assertThat(read("rev-private", "{clusterIP: not an ip, ports: [{name: http, port: 80}]}",
        remarks)).isEqualTo(new PrivateClusterIp(REVISION, null, null));
    assertThat(remarks).containsExactly("spec.clusterIP is no IP address: 'not an ip'");
  }

  @Test
  @DisplayName("under another name it is not the private Service")
  void isNotThePrivateServiceUnderAnotherName() {
    assertThat(read("rev-private11", "{clusterIP: 129.0.0.1}")).isNull();
  }
}
