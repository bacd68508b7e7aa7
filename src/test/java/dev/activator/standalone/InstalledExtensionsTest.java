package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.RevisionAnnotations;
import dev.activator.standalone.policy.TestReferences;
import dev.activator.discovery.policy.RevisionEndpointSlice.Condition;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.standalone.policy.ServiceEndpointSlice;
import dev.activator.kube.Yaml;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstalledExtensionsTest {
  private record Woken(String kind, String name) implements ScaleTarget {}

  private static final String ASLEEP = "{idle: {state: Asleep, since: '2026-01-01T00:00:00Z',"
      + " do: sleep}}";
  private static final ServiceEndpointSlice SLICE = new ServiceEndpointSlice(
      new RevisionId("shop", "web"), Map.of("http", 8080),
      List.of(new Member("web-1", "10.0.0.1", Condition.READY)), null);

  /** Reads no value, but wakes what is asleep. */
  private static final class Waker implements IdleMethod<Woken> {
    @Override
    public Class<Woken> type() {
      return Woken.class;
    }

    @Override
    public Woken target(ScaleTarget workload, IdleSpec idle) {
      if (idle.fields() != null) {
        throw new IllegalArgumentException("spec.idle.do is not possible");
      }
      return new Woken(workload.kind(), workload.name());
    }

    @Override
    public ScaleClient<Woken> client(Environment environment) {
      throw new UnsupportedOperationException("not in this test");
    }
  }

  private static ResolvedScaledService resolved(InstalledExtensions extensions, String status) {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: web, port: http}
          target: {concurrency: 20}
          idle: {do: freeze}
        status: %s
        """.formatted(status)).value();
    return extensions.idle(object, known -> ResolvedScaledService.of(known,
        TestReferences.to(null).slices(List.of(SLICE)).workload(new WorkloadState.Hidden())
            .found()));
  }

  @Test
  void sendsRequestsToPodsThatNoExtensionCanWake() {
    var state = resolved(new InstalledExtensions(Set.of(), Map.of(), null), ASLEEP);

    assertThat(state.present()).isEqualTo(1);
    assertThat(state.object().idle().state()).isNull();
    assertThat(state.troubles()).contains(new Trouble("FeatureNotInstalled", "spec.idle has no"
        + " effect: this activator was built without the extension that reads it; its pods may be"
        + " asleep until they are restarted"));
  }

  @Test
  void saysThatItsPodsAreAsleep() {
    var state = resolved(new InstalledExtensions(Set.of(), Map.of(), new Waker()), ASLEEP);

    assertThat(state.revision().annotations()).containsEntry(RevisionAnnotations.PODS_HIDDEN,
        "its pods are asleep until a request wakes them");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"{} | false",
      "{idle: {state: Asleep, since: '2026-01-01T00:00:00Z', do: sleep}} | true",
      "{idle: {state: FallingAsleep, since: '2026-01-01T00:00:00Z', do: sleep}} | true"})
  void wakesPodsWhoseFieldHasBecomeInvalid(String status, boolean wakes) {
    var state = resolved(new InstalledExtensions(Set.of(), Map.of(), new Waker()), status);

    assertThat(state.target().workload() instanceof Woken).isEqualTo(wakes);
    assertThat(state.troubles()).extracting(Trouble::reason)
        .contains("InvalidIdle");
  }
}
