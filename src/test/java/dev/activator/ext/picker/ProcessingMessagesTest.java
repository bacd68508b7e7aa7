package dev.activator.ext.picker;

import static dev.activator.ext.picker.EnvoyMessages.get;
import static dev.activator.ext.picker.EnvoyMessages.servedBy;
import static dev.activator.ext.picker.EnvoyMessages.withSubset;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessingMessagesTest {
  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.1:80", "[fd00::1]:8080", "name:1"})
  void readsAnAddressAsItIsWritten(String text) {
    assertThat(ProcessingMessages.destination(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":80", "10.0.0.1", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:0",
      "10.0.0.1:65536", "[]:80"})
  void anythingElseIsNone(String text) {
    assertThat(ProcessingMessages.destination(text)).isNull();
  }

  @Test
  void aSubsetIsMissingEmptyOrAList() {
    assertThat(ProcessingMessages.subset(get())).isNull();
    assertThat(ProcessingMessages.subset(withSubset(get().toBuilder()))).isEmpty();
    assertThat(ProcessingMessages.subset(withSubset(get().toBuilder(), "10.0.0.1:80", "nonsense")))
        .containsExactly(new Destination("10.0.0.1", 80));
  }

  @Test
  void readsWhichPodHasServed() {
    assertThat(ProcessingMessages.served(servedBy("10.0.0.1:80")))
        .isEqualTo(new Destination("10.0.0.1", 80));
    assertThat(ProcessingMessages.served(EnvoyMessages.responseHeaders(200, false))).isNull();
  }
}
