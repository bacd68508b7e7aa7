package dev.activator.embedded.api.store;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINT_SLICE;
import static dev.activator.embedded.api.store.BuiltInKinds.POD;
import static dev.activator.embedded.api.store.BuiltInKinds.SECRET;
import static dev.activator.embedded.api.store.BuiltInKinds.SERVICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import org.junit.jupiter.api.Test;

class BuiltInKindRulesTest {
  private final ApiStore store = new ApiStore(Clock.systemUTC());

  @Test
  void movesStringDataToData_andOverwrites() {
    var secret = named("s").setAll(parse("""
        {'data': {'a': 'b2xk', 'b': 'a2VwdA=='}, 'stringData': {'a': 'new'}}"""));

    var stored = store.create(SECRET, (tools.jackson.databind.node.ObjectNode) secret);

    assertThat(stored.path("data")).isEqualTo(parse("{'a': 'bmV3', 'b': 'a2VwdA=='}"));
    assertThat(stored.has("stringData")).isFalse();
    assertThat(stored.path("type").stringValue()).isEqualTo("Opaque");
  }

  @Test
  void refusesAnotherTypeOfASecret() {
    store.create(SECRET, named("s"));

    assertThatThrownBy(
        () -> store.edit(SECRET, "default", "s", found -> found.put("type", "kubernetes.io/tls")))
        .hasMessage("Secret \"s\" is invalid: type: Invalid value: \"kubernetes.io/tls\": field is"
            + " immutable");
  }

  @Test
  void givesPortsOfAServiceAProtocolAndATarget() {
    var service = named("s");
    service.set("spec", parse("{'ports': [{'name': 'x', 'port': 80}, {'name': 'y', 'port': 1,"
        + " 'targetPort': 'a'}]}"));

    assertThat(store.create(SERVICE, service).path("spec")).isEqualTo(parse(
        """
            {'ports': [{'name': 'x', 'port': 80, 'protocol': 'TCP', 'targetPort': 80},
              {'name': 'y', 'port': 1, 'targetPort': 'a', 'protocol': 'TCP'}], 'type': 'ClusterIP', 'sessionAffinity': 'None'}"""));
  }

  @Test
  void refusesAnotherSpecOfAPod_exceptForImagesAndWhatMeansTheSame() {
    var pod = named("p");
    pod.set("spec", parse("{'containers': [{'name': 'c', 'command': ['a'], 'image': 'i'}]}"));
    store.create(POD, pod);

    store.edit(POD, "default", "p", found -> found.set("spec", parse(
        "{'containers': [{'name': 'c', 'command': ['a'], 'image': 'j', 'resources': {}}]}")));
    assertThatThrownBy(() -> store.edit(POD, "default", "p",
        found -> found.set("spec", parse("{'containers': [{'name': 'c', 'command': ['b']}]}"))))
        .hasMessageStartingWith("Pod \"p\" is invalid: spec: Forbidden: pod updates may not change"
            + " fields other than `spec.containers[*].image`");
  }

  @Test
  void givesPortsOfAnEndpointSliceANameAndAProtocol() {
    var slice = named("s");
    slice.set("ports",
        parse("{'l': [{'port': 80}, {'name': 'dns', 'protocol': 'UDP'}]}").path("l"));

    assertThat(store.create(ENDPOINT_SLICE, slice).path("ports")).isEqualTo(parse("""
        {'l': [{'port': 80, 'name': '', 'protocol': 'TCP'}, {'name': 'dns', 'protocol': 'UDP'}]}""")
        .path("l"));
  }
}
