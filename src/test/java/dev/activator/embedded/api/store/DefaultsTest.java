package dev.activator.embedded.api.store;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.store.Kinds.ENDPOINT_SLICE;
import static dev.activator.embedded.api.store.Kinds.SECRET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import org.junit.jupiter.api.Test;

class DefaultsTest {
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
  void givesPortsOfAnEndpointSliceANameAndAProtocol() {
    var slice = named("s");
    slice.set("ports",
        parse("{'l': [{'port': 80}, {'name': 'dns', 'protocol': 'UDP'}]}").path("l"));

    assertThat(store.create(ENDPOINT_SLICE, slice).path("ports")).isEqualTo(parse("""
        {'l': [{'port': 80, 'name': '', 'protocol': 'TCP'}, {'name': 'dns', 'protocol': 'UDP'}]}""")
        .path("l"));
  }
}
