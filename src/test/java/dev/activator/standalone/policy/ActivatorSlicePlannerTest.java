package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.policy.IpFamily;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.standalone.policy.ActivatorSlicePlanner.Activators;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.kube.Yaml;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When the requests to a Service reach the activators. */
class ActivatorSlicePlannerTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final KubernetesService SERVICE = Yaml.decoded(StandaloneKinds.ROUTED_SERVICES, """
      metadata: {namespace: shop, name: svc}
      spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
      """).value();
  private static final ActivatorEndpointSlice SLICE = new ActivatorEndpointSlice(WEB, "u", "svc",
      IpFamily.IPV4, Map.of("http", 8012), List.of("10.9.0.1", "10.9.0.2"));
  private static final String NAME = "web.svc.activator.dev";

  private static ResolvedScaledService state(String catchService, String service,
      String endpoints) {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: %s, port: http}
          target: {concurrency: 20}
          catchService: %s
        """.formatted(service, catchService)).value();
    var slice = Yaml.decoded(StandaloneKinds.SERVICE_SLICES, """
        metadata: {namespace: shop, name: svc-x, labels: {kubernetes.io/service-name: svc}}
        addressType: IPv4
        ports: [{name: http, port: 8080}]
        endpoints: %s
        """.formatted(endpoints)).value();
    return ResolvedScaledService.of(object, TestReferences.to(SERVICE).slices(List.of(slice))
        .workload(new WorkloadState.Hidden()).found());
  }

  private static ActivatorSlicePlanner caught(String catchService, String endpoints,
      @Nullable String port,
      Activators activators, ActivatorEndpointSlice... present) {
    var byName = new TreeMap<String, ActivatorEndpointSlice>();
    Stream.of(present).forEach(one -> byName.put(one.name(), one));
    return ActivatorSlicePlanner.of(state(catchService, "svc", endpoints),
        port == null ? null : SERVICE, activators, byName);
  }

  /** @param open by {@code spec.ports} */
  private static ActivatorSlicePlanner tcp(String serviceRef, Map<String, Integer> open) {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: %s
          ports: [{port: 5432, protocol: tcp}, {port: ssh, protocol: tcp}]
          target: {concurrency: 20}
          catchService: true
        """.formatted(serviceRef)).value();
    var service = Yaml.decoded(StandaloneKinds.ROUTED_SERVICES, """
        metadata: {namespace: shop, name: svc}
        spec: {selector: {app: web}, ports: [{name: http, port: 80}, {name: https, port: 443},
          {name: pg, port: 5432}, {name: ssh, port: 22}]}
        """).value();
    var state = ResolvedScaledService.of(object,
        TestReferences.to(service).workload(new WorkloadState.Hidden()).found(),
        new TcpPortTable.Assigned(open, open, Map.of(), List.of()));
    return ActivatorSlicePlanner.of(state, service, TWO, Map.of());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "{name: svc, port: http}  | {http=8012, pg=9100, ssh=9101}",
      "{name: svc}              | {pg=9100, ssh=9101}",
      // Its callers expect TLS.
      "{name: svc, port: https} | {pg=9100, ssh=9101}",
      // A port of the Service takes either requests or connections.
      "{name: svc, port: pg}    | {pg=8012, ssh=9101}"})
  void connectionsAreCaughtAtThePortsOfTheActivatorsForThem(String serviceRef, String expected) {
    var slice = tcp(serviceRef, Map.of("5432", 9100, "ssh", 9101)).whileAtZero().getFirst();

    assertThat(new TreeMap<>(slice.ports())).hasToString(expected);
  }

  @Test
  void connectionsAreCaughtOnceActivatorsListenForThem() {
    assertThat(tcp("{name: svc}", Map.of()).catches()).isTrue();
    assertThat(tcp("{name: svc}", Map.of()).whileAtZero()).isEmpty();
    assertThat(tcp("{name: svc}", Map.of("ssh", 9101)).whileAtZero().getFirst().ports())
        .isEqualTo(Map.of("ssh", 9101));
  }

  private static final Activators TWO = new Activators(8012, List.of("10.9.0.2", "10.9.0.1"));

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
      "at zero, nothing written | true | [] | false | none | create",
      "at zero, written | true | [] | false | same | none",
      "at zero, other addresses | true | [] | false | other | update",
      "at zero, of a deleted ScaledService of the same name | true | [] | false | former | update",
      "starting | true | [{addresses: [10.0.0.1], conditions: {ready: false}}] | false | same | none",
      "starting, nothing written | true | [{addresses: [10.0.0.1], conditions: {ready: false}}]"
          + " | false | none | create",
      "the first pod is ready | true | [{addresses: [10.0.0.1]}] | false | same | delete",
      "up | true | [{addresses: [10.0.0.1]}] | false | none | none",
      "up, about to be removed | true | [{addresses: [10.0.0.1]}] | true | none | create",
      "up, about to be removed, written | true | [{addresses: [10.0.0.1]}] | true | same | none",
      "the last pod terminates | true | [{addresses: [10.0.0.1], conditions: {ready: false,"
          + " serving: true, terminating: true}}] | false | none | create",
      "not wanted | false | [] | false | none | none",
      "no longer wanted | false | [] | false | same | delete",
      "no longer wanted, about to be removed | false | [{addresses: [10.0.0.1]}] | true | same"
          + " | delete"})
  void theSliceIsThereWhileNoPodIsReady(String situation, String catches, String endpoints,
      boolean removesPods, String present, String step) {
    var known = switch (present) {
      case "same" -> Map.of(NAME, SLICE);
      case "other" ->
        Map.of(NAME,
            new ActivatorEndpointSlice(WEB, "u", "svc", IpFamily.IPV4, Map.of("http", 8012),
                List.of("10.9.0.3")));
      case "former" ->
        Map.of(NAME, new ActivatorEndpointSlice(WEB, "before", "svc", IpFamily.IPV4,
            Map.of("http", 8012), SLICE.addresses()));
      default -> Map.<String, ActivatorEndpointSlice>of();
    };

    var steps = caught(catches, endpoints, "http", TWO).steps(known, removesPods);

    assertThat(steps).isEqualTo(switch (step) {
      case "create" -> List.of(new ActivatorSlicePlanner.Step.Create(SLICE));
      case "update" -> List.of(new ActivatorSlicePlanner.Step.Update(SLICE));
      case "delete" -> List.of(new ActivatorSlicePlanner.Step.Delete(NAME));
      default -> List.of();
    });
  }

  @Test
  void withoutAnActivatorThatIsReady_theSliceGoes_soThatNothingLeadsToDeadAddresses() {
    var state = caught("true", "[]", "http", new Activators(8012, List.of()));

    assertThat(state.catches()).isTrue();
    assertThat(state.steps(Map.of(NAME, SLICE), false))
        .containsExactly(new ActivatorSlicePlanner.Step.Delete(NAME));
  }

  @Test
  void aServiceWithoutThePortIsNotCaught() {
    assertThat(caught("true", "[]", null, TWO).catches()).isFalse();
  }

  @Test
  void eachAddressFamilyHasItsSlice() {
    var state = caught("true", "[]", "http",
        new Activators(8012, List.of("10.9.0.1", "fd00::1")));

    assertThat(state.whileAtZero()).map(ActivatorEndpointSlice::name)
        .containsExactly("web.svc.activator.dev", "web.svc.ipv6.activator.dev");
    assertThat(state.whileAtZero()).map(ActivatorEndpointSlice::addresses)
        .containsExactly(List.of("10.9.0.1"), List.of("fd00::1"));
  }

  @Test
  void aSliceOfAFormerServiceGoes_afterTheNewOneIsMade() {
    var former = new ActivatorEndpointSlice(WEB, "u", "old", IpFamily.IPV4, Map.of("http", 8012),
        List.of("10.9.0.1"));

    assertThat(caught("true", "[]", "http", TWO).steps(Map.of(former.name(), former), false))
        .containsExactly(new ActivatorSlicePlanner.Step.Create(SLICE),
            new ActivatorSlicePlanner.Step.Delete("web.old.activator.dev"));
  }

  @Test
  void aLongNameIsShortened() {
    var slice = new ActivatorEndpointSlice(new RevisionId("shop", "w".repeat(253)), "u", "svc",
        IpFamily.IPV6, Map.of("http", 8012), List.of());

    assertThat(slice.name()).hasSizeLessThanOrEqualTo(253).endsWith(".svc.ipv6.activator.dev");
  }

  @Test
  void aSliceOfOursIsReadAsItIsWritten() {
    var slice = Yaml
        .decoded(StandaloneKinds.SERVICE_SLICES,
            """
                metadata:
                  namespace: shop
                  name: web.svc.activator.dev
                  labels: {kubernetes.io/service-name: svc, endpointslice.kubernetes.io/managed-by: activator.dev}
                  annotations: {activator.dev/scaled-service: web}
                  ownerReferences: [{apiVersion: activator.dev/v1alpha1, kind: ScaledService, name: web, uid: u}]
                addressType: IPv4
                ports: [{name: http, port: 8012, protocol: TCP}]
                endpoints: [{addresses: [10.9.0.2], conditions: {ready: true}}, {addresses: [10.9.0.1]}]
                """)
        .value();

    assertThat(slice.own()).isEqualTo(new ServiceEndpointSlice.Own(NAME, WEB, "u"));
    assertThat(slice.caught(WEB)).isEqualTo(SLICE);
  }
}
