package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class ContainerEnvironmentTest {
  private static final ObjectNode POD = Objects.parse("""
      {'metadata': {'name': 'p', 'namespace': 'ns', 'uid': 'u', 'labels': {'app.io/x': 'lab'},
        'annotations': {'a': 'ann'}}, 'spec': {'nodeName': 'localhost'},
       'status': {'podIP': '127.0.0.1', 'hostIP': '127.0.0.1'}}""");

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
      "[{name: A, value: x}, {name: B, value: '$(A)y'}]             | A=x,B=xy",
      "[{name: B, value: '$(A)y'}, {name: A, value: x}]             | A=x,B=$(A)y",
      "[{name: A, value: x}, {name: B, value: '$$(A) $(NO)'}]       | A=x,B=$(A) $(NO)",
      "[{name: A, value: x}, {name: A, value: '$(A)$(A)'}]          | A=xx",
      "[{name: A}, {name: B, value: ''}]                            | A=,B=",
      "[{name: A, valueFrom: {configMapKeyRef: {name: cm, key: k}}}, {name: B, value: '<$(A)>'}] | A=v,B=<v>",
      "[{name: A, valueFrom: {secretKeyRef: {name: s, key: pw}}}]   | A=geheim",
      "[{name: A, valueFrom: {secretKeyRef: {name: s, key: text}}}] | A=plain",
      "[{name: A, valueFrom: {secretKeyRef: {name: s, key: no, optional: true}}}] | ``",
      "[{name: A, valueFrom: {configMapKeyRef: {name: no, key: k, optional: true}}}] | ``",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]      | A=p",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}] | A=ns",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]       | A=u",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]       | A=127.0.0.1",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}]      | A=127.0.0.1",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]      | A=localhost",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app.io/x']\"}}}] | A=lab",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['a']\"}}}]  | A=ann",
      "[{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['no']\"}}}]      | A="})
  void resolvesVariablesInOrder(String env, @Nullable String variables) {
    var found = of("{env: " + env + "}");

    assertThat(found.problem()).isEmpty();
    assertThat(text(found)).isEqualTo(variables == null ? "" : variables);
  }

  @Test
  void takesAllOfAnObjectWithAPrefixAndLetsEnvReplaceThem() {
    var found = of("""
        {envFrom: [{configMapRef: {name: cm}}, {prefix: S_, secretRef: {name: t}},
          {configMapRef: {name: no, optional: true}}], env: [{name: k, value: '$(k)!'}]}""");

    assertThat(text(found)).isEqualTo("S_pw=geheim,S_text=plain,k=v!");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
      "{env: [{name: A, valueFrom: {configMapKeyRef: {name: no, key: k}}}]} | configmap \"no\" not found",
      "{env: [{name: A, valueFrom: {secretKeyRef: {name: no, key: k}}}]}    | secret \"no\" not found",
      "{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: no}}}]}    | couldn't find key no in Secret ns/s",
      "{env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: no}}}]} | couldn't find key no in ConfigMap ns/cm",
      "{envFrom: [{secretRef: {name: no}}]}                                 | secret \"no\" not found",
      "{env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.x}}}]}       | unsupported fieldPath: spec.x",
      "{env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.x}}}]} | unsupported container resource: limits.x",
      "{env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: x}}}]} | resourceFieldRef limits.cpu: 'x' is not a quantity, such as 500m or 1Gi",
      "{env: [{name: A, valueFrom: {fileKeyRef: {}}}]} | the valueFrom of A is not known here: fileKeyRef"})
  void saysWhatIsMissing(String container, String problem) {
    assertThat(of(container).problem()).isEqualTo(problem);
  }

  @ParameterizedTest(name = "{0} in {1}: {2}")
  @CsvSource({"limits.cpu, 1, 2", "limits.cpu, 1m, 1500", "limits.memory, '', 134217728",
      "limits.memory, 0, 134217728", "limits.memory, 1Mi, 128", "requests.memory, 1M, 135",
      "requests.cpu, 1m, 250", "limits.ephemeral-storage, 1Gi, 2"})
  void giveTheResourcesOfTheContainerRoundedUp(String resource, String divisor, String value) {
    var found = of("""
        {resources: {limits: {cpu: 1500m, memory: 128Mi, ephemeral-storage: 2Gi},
                     requests: {cpu: 0.25}},
         env: [{name: A, valueFrom: {resourceFieldRef: {resource: %s%s}}}]}""".formatted(resource,
        divisor.isEmpty() ? "" : ", divisor: " + divisor));

    assertThat(text(found)).isEqualTo("A=" + value);
  }

  @Test
  void takeTheMachineForALimitThatIsNotSet() {
    var found = of("{env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}},"
        + " {name: B, valueFrom: {resourceFieldRef: {resource: requests.cpu}}},"
        + " {name: C, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}]}");

    assertThat(found.variables()).containsEntry("B", "0")
        .containsEntry("A", "" + Runtime.getRuntime().availableProcessors());
    assertThat(Integer.parseInt(found.variables().get("C"))).isPositive();
  }

  @Test
  void doesNotQuoteASecretThatCannotBeAVariable() {
    var found = of("{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: binary}}}]}");

    assertThat(found.problem())
        .isEqualTo("the value of A has a zero byte, which no environment variable can have");
    assertThat(found.variables()).isEmpty();
  }

  private static ContainerEnvironment of(String container) {
    return ContainerEnvironment.of(
        new tools.jackson.dataformat.yaml.YAMLMapper().readTree(container),
        ContainerEnvironmentTest::find, POD);
  }

  private static @Nullable ObjectNode find(Kind kind, String name) {
    if (kind == BuiltInKinds.CONFIG_MAP && name.equals("cm")) {
      return Objects.parse("{'data': {'k': 'v'}}");
    }
    if (kind == BuiltInKinds.SECRET && name.equals("s")) {
      return Objects.parse("{'data': {'pw': 'Z2VoZWlt', 'binary': 'YQBi', 'text': 'cGxhaW4='}}");
    }
    return kind == BuiltInKinds.SECRET && name.equals("t")
        ? Objects.parse("{'data': {'pw': 'Z2VoZWlt', 'text': 'cGxhaW4='}}")
        : null;
  }

  private static String text(ContainerEnvironment environment) {
    return environment.variables().entrySet().stream().map(Object::toString).sorted()
        .collect(Collectors.joining(","));
  }
}
