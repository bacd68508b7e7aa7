package dev.activator.ext.actuators.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.ConfigValue;
import dev.activator.ext.actuators.policy.PatchTarget.State;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PatchTargetTest {
  private static PatchTarget read(String running, String stopped) {
    return PatchTarget.read(ConfigValue.parse("spec.wake.patch",
        "{apiVersion: a/v1, kind: Sandbox, name: web, running: " + running + ", stopped: "
            + stopped + "}"));
  }

  private static Map<?, ?> object(String yaml) {
    return (Map<?, ?>) ConfigValue.parse("object", yaml).value();
  }

  @ParameterizedTest(name = "{0} / {1}: {2} is {3}")
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "{spec: {replicas: 1}} | {spec: {replicas: 0}} | {'spec': {'replicas': 1}} | RUNNING",
      "{spec: {replicas: 1}} | {spec: {replicas: 0}} | {'spec': {'replicas': 0, 'a': 1}} | STOPPED",
      "{spec: {replicas: 1}} | {spec: {replicas: 0}} | {'spec': {'replicas': 2}} | OTHER",
      "{spec: {replicas: 1}} | {spec: {replicas: 0}} | {'spec': {'replicas': 0.0}} | STOPPED",
      "{spec: {replicas: 1}} | {spec: {replicas: 0}} | {'spec': {}} | OTHER",
      "{spec: {replicas: 1}} | {spec: {replicas: 0}} | {'spec': 'text'} | OTHER",
      "{spec: {mode: On}} | {spec: {mode: null}} | {'spec': {}} | STOPPED",
      "{spec: {mode: On}} | {spec: {mode: null}} | {} | STOPPED",
      "{spec: {mode: On}} | {spec: {mode: null}} | {'spec': {'mode': null}} | STOPPED",
      "{spec: {mode: On}} | {spec: {mode: null}} | {'spec': {'mode': 'Off'}} | OTHER",
      "{spec: {sleep: null}} | {spec: {sleep: {}}} | {'spec': {}} | RUNNING",
      "{spec: {sleep: null}} | {spec: {sleep: {}}} | {} | RUNNING",
      "{spec: {sleep: null}} | {spec: {sleep: {}}} | {'spec': {'sleep': {}}} | STOPPED",
      "{spec: {sleep: null}} | {spec: {sleep: {}}} | {'spec': {'sleep': {'at': 1}}} | STOPPED",
      "{spec: {mode: On}} | {spec: {mode: {off: null}}} | {'spec': {'mode': 'On'}} | RUNNING",
      "{spec: {zones: [a, b]}} | {spec: {zones: []}} | {'spec': {'zones': ['a', 'b']}} | RUNNING",
      "{spec: {zones: [a, b]}} | {spec: {zones: []}} | {'spec': {'zones': ['b', 'a']}} | OTHER",
      "{metadata: {annotations: {a/h: 'off'}}} | {metadata: {annotations: {a/h: 'on'}}} | {'metadata': {'annotations': {'a/h': 'on'}}} | STOPPED",
      "{spec: {a: {b: 1}, c: 2}} | {spec: {a: {b: 0}}} | {'spec': {'a': {'b': 1}}} | OTHER"})
  void knowsByTheFieldsOfAnObject_whetherItRuns(String running, String stopped, String object,
      State state) {
    assertThat(read(running, stopped).state(object(object))).isEqualTo(state);
  }

  @ParameterizedTest(name = "{0} / {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "{} | {spec: {a: 1}} | spec.wake.patch.running must be an object with the fields to set",
      "{spec: {a: 1}} | [1] | spec.wake.patch.stopped must be an object with the fields to set",
      "{spec: {a: 1}} | {spec: {a: 1}} | must set a field to different values, by which the state is known",
      "{spec: {a: 1}} | {spec: {b: 0}} | must set a field to different values",
      "{spec: {}} | {spec: {a: {}}} | different values, by which the state is known; kubectl apply leaves out nulls",
      "{spec: {a: 1}} | {spec: {a: 1.0}} | must set a field to different values",
      "{spec: {a: null}} | {spec: {a: {b: null}}} | must set a field to different values",
      "{spec: {a: {b: null}}} | {spec: null} | must set a field to different values",
      "{status: {a: 1}} | {status: {a: 0}} | spec.wake.patch.running.status may not be set",
      "{kind: A} | {kind: B} | spec.wake.patch.running.kind may not be set",
      "{metadata: {finalizers: [a]}} | {metadata: {finalizers: []}} | spec.wake.patch.running.metadata.finalizers may not be set: of the metadata only labels and annotations",
      "{metadata: 1} | {metadata: 2} | spec.wake.patch.running.metadata may not be set"})
  void refusesPatchesThatDoNotSayWhatRuns_orChangeWhatOthersDependOn(String running,
      String stopped, String sentence) {
    assertThatThrownBy(() -> read(running, stopped))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(sentence);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "{} | spec.wake.patch.running must be an object",
      "{running: {a: 1}, stopped: {a: 0}} | spec.wake.patch.apiVersion must be text",
      "{url: x} | spec.wake.patch has no field url"})
  void refusesWhatNamesNoObject(String spec, String sentence) {
    assertThatThrownBy(() -> PatchTarget.read(ConfigValue.parse("spec.wake.patch", spec)))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(sentence);
  }
}
