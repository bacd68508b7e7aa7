package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.ApiException;
import dev.activator.embedded.api.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class ServiceValidationTest {
  @ParameterizedTest
  @ValueSource(strings = {"{'containers': [{'command': ['sh', '-c', 'x']}]}",
      "{'containers': [{'image': 'activator.dev/hello'}], 'containerConcurrency': 0}",
      "{'containers': [{'command': ['x']}], 'containerConcurrency': 1000, 'timeoutSeconds': 5}"})
  void takesWhatCanRunHere(String spec) {
    ServiceValidation.check(service(spec));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "{} | spec.template.spec.containers: a Service needs one container",
      "{'containers': [{'image': 'nginx'}]} | spec.template.spec.containers[0].command: embedded"
          + " mode runs local processes, not images: name the program to run, which finds its port"
          + " in $PORT",
      "{'containers': [{'command': ['a']}, {'command': ['b']}]} | spec.template.spec.containers:"
          + " embedded mode runs one local process for each pod, not 2",
      "{'containers': [{'command': [1]}]} | spec.template.spec.containers[0].command: must be a"
          + " list of strings",
      "{'containers': [{'command': ['a']}], 'containerConcurrency': -1} |"
          + " spec.template.spec.containerConcurrency: must be a whole number from 0 to 1000, not"
          + " -1",
      "{'containers': [{'command': ['a']}], 'timeoutSeconds': 'x'} |"
          + " spec.template.spec.timeoutSeconds: must be a whole number from 1 to 2147483647, not"
          + " \"\"x\"\""})
  void refusesWhatCannotAndSaysWhichField(String spec, String message) {
    assertThatThrownBy(() -> ServiceValidation.check(service(spec)))
        .isInstanceOf(ApiException.class).hasMessage(message.replace("\"\"", "\""));
  }

  @Test
  void aRevisionsNameBeginsWithItsServices() {
    var service = service("{'containers': [{'command': ['a']}]}");
    ((ObjectNode) service.path("spec").path("template")).putObject("metadata").put("name", "other");

    assertThatThrownBy(() -> ServiceValidation.check(service))
        .hasMessage("spec.template.metadata.name: must begin with the Service's name: hello-");
  }

  private static ObjectNode service(String spec) {
    var service = Json.object();
    service.putObject("metadata").put("name", "hello");
    service.putObject("spec").putObject("template").set("spec",
        Json.MAPPER.readTree(spec.replace('\'', '"')));
    return service;
  }
}
