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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
      "{'name': 'Web_UI', 'port': 80} | spec.ports[0].name: Invalid value: \"Web_UI\": a lowercase",
      "{'port': 0} | spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "{'name': 'a', 'port': 1}, {'name': 'a', 'port': 2} | spec.ports[1].name: Duplicate value: \"a\"",
      "{'name': 'a', 'port': 1}, {'port': 2} | spec.ports[1].name: Required value"})
  void refusesPortsOfAService(String ports, String message) {
    var service = named("s");
    service.set("spec", parse("{'ports': [" + ports + "]}"));

    assertThatThrownBy(() -> store.create(SERVICE, service))
        .hasMessageStartingWith("Service \"s\" is invalid: " + message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{'phase': 'Running'}"})
  void aNewPodIsPending_whateverItsClientSays(String status) {
    var pod = named("p");
    pod.set("status", parse(status));

    assertThat(store.create(POD, pod).at("/status/phase").stringValue()).isEqualTo("Pending");
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
