package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class EndpointSliceMirroringControllerTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(Clock.systemUTC());

  EndpointSliceMirroringControllerTest() {
    var mirror = new EndpointSliceMirroringController(new ControllerWrites(store));
    store.subscribe(BuiltInKinds.ENDPOINTS, loop, mirror::endpointsChanged);
    store.subscribe(BuiltInKinds.ENDPOINT_SLICE, loop, mirror::sliceChanged);
    store.create(BuiltInKinds.ENDPOINTS, Objects.parse("""
        {'metadata': {'namespace': 'ns', 'name': 'e', 'labels': {'a': 'b'}}}
        """));
    loop.run();
  }

  private void write(String subsets) {
    store.edit(BuiltInKinds.ENDPOINTS, "ns", "e", endpoints -> {
      endpoints.set("subsets",
          Objects.parse("{'x': " + subsets + "}").get("x"));
      return endpoints;
    });
    loop.run();
  }

  private List<String> slices() {
    return store.list(BuiltInKinds.ENDPOINT_SLICE).stream().map(slice -> slice.get("addressType")
        .asString() + " " + slice.at("/ports/0/port").asString("none") + " "
        + slice.get("endpoints").valueStream().map(EndpointSliceMirroringControllerTest::text)
            .toList())
        .toList();
  }

  private static String text(JsonNode endpoint) {
    return endpoint.at("/addresses/0").asString()
        + (endpoint.at("/conditions/ready").asBoolean() ? "" : " not ready");
  }

  @Test
  void thereIsAnEmptyOneWhereThereAreNoAddresses() {
    assertThat(slices()).containsExactly("IPv4 none []");
    assertThat(ObjectMeta.labels(store.list(BuiltInKinds.ENDPOINT_SLICE).getFirst()))
        .isEqualTo(Map.of("a", "b", "kubernetes.io/service-name", "e",
            "endpointslice.kubernetes.io/managed-by", "endpointslicemirroring-controller.k8s.io"));
  }

  @Test
  @DisplayName("says whether an endpoint is ready, and nothing else")
  void knowsNoConditionButReady() {
    write("[{'ports': [{'port': 1}], 'addresses': [{'ip': '10.0.0.1'}]}]");

    assertThat(store.list(BuiltInKinds.ENDPOINT_SLICE).getFirst().at("/endpoints/0/conditions"))
        .hasToString("{\"ready\":true}");
  }

  @Test
  void followsItsEndpoints() {
    write(
        """
            [{'ports': [{'name': 'http', 'port': 1}], 'addresses': [{'ip': '10.0.0.1'}, {'ip': 'fd::1'}],
              'notReadyAddresses': [{'ip': '10.0.0.2'}]},
             {'ports': [{'name': 'http', 'port': 2}], 'addresses': [{'ip': '10.0.0.1'}]}]""");
    assertThat(slices()).containsExactlyInAnyOrder("IPv4 1 [10.0.0.1, 10.0.0.2 not ready]",
        "IPv6 1 [fd::1]", "IPv4 2 [10.0.0.1]");

    write("[{'ports': [{'name': 'http', 'port': 2}], 'notReadyAddresses': [{'ip': '10.0.0.1'}]}]");
    assertThat(slices()).containsExactly("IPv4 2 [10.0.0.1 not ready]");

    write("[]");
    assertThat(slices()).containsExactly("IPv4 none []");

    store.delete(BuiltInKinds.ENDPOINTS, "ns", "e");
    loop.run();
    assertThat(slices()).isEmpty();
  }

  @Test
  void subsetsThatDifferInThePortsNameHaveSlicesOfTheirOwn() {
    write("""
        [{'ports': [{'name': 'http', 'port': 1}], 'addresses': [{'ip': '10.0.0.1'}]},
         {'ports': [{'name': 'h2c', 'port': 1}], 'addresses': [{'ip': '10.0.0.2'}]}]""");

    assertThat(slices()).containsExactlyInAnyOrder("IPv4 1 [10.0.0.1]", "IPv4 1 [10.0.0.2]");
  }

  @Test
  void writesASliceForAPortWithAnyName() {
    write("[{'ports': [{'name': 'Web_UI', 'port': 1}], 'addresses': [{'ip': '10.0.0.1'}]}]");

    assertThat(slices()).containsExactly("IPv4 1 [10.0.0.1]");
  }

  @Test
  void writesADeletedSliceAgain() {
    var slice = store.list(BuiltInKinds.ENDPOINT_SLICE).getFirst();

    store.delete(BuiltInKinds.ENDPOINT_SLICE, "ns", ObjectMeta.name(slice));
    loop.run();

    assertThat(slices()).containsExactly("IPv4 none []");
  }
}
