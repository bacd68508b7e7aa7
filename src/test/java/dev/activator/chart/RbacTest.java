package dev.activator.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.ext.podstarts.PodStartWatch;
import dev.activator.ext.lending.link.PeerSecret;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.tls.CertificateListener;
import dev.activator.kube.ClusterAccess;
import dev.activator.ext.console.EventFetcher;
import dev.activator.ext.lending.link.PeerSecret.Answer;
import dev.activator.tls.CertificateListener.RoutingCertificate;
import dev.activator.discovery.PodAddressPreference;
import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.revision.RevisionId;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Call;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What the chart lets the activator do, against what it does. */
class RbacTest {
  private static final Verb[] ABOUT_OBJECTS = EnumSet.complementOf(EnumSet.of(Verb.OTHER))
      .toArray(Verb[]::new);

  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final String NAMESPACE = "knative-serving";
  private static final String ALL = "rbac: {pods: true, events: true}";
  private static final ObjectNode CERTIFICATE = Objects.parse("""
      {'apiVersion': 'v1', 'kind': 'Secret',
       'metadata': {'namespace': 'knative-serving', 'name': 'routing-serving-certs'},
       'data': {'tls.crt': '', 'tls.key': '', 'ca.crt': ''}}
      """);

  private static final String UPDATE_SECRETS = "update secrets";
  /** As the chart makes it. */
  private static final ObjectNode PEERS = Objects.parse("""
      {'apiVersion': 'v1', 'kind': 'Secret',
       'metadata': {'namespace': 'knative-serving', 'name': 'activator-peers'}}
      """);

  private static final ObjectNode NETWORK = Objects.parse("""
      {'apiVersion': 'v1', 'kind': 'ConfigMap',
       'metadata': {'namespace': 'knative-serving', 'name': 'config-network'}}
      """);

  /** Hears of certificates, and passes them over. */
  private static final class Passed implements CertificateListener {
    @Override
    public void certificate(RoutingCertificate now) {}

    @Override
    public void bundle(String name, List<String> values) {}

    @Override
    public void bundleGone(String name) {}
  }

  @Test
  void isKnativesWithEndpointSlices() {
    var chart = Chart.replacing();

    var inNamespace = reading("configmaps", "secrets");
    inNamespace.add(UPDATE_SECRETS);
    assertThat(rights(chart.only("Role"))).isEqualTo(inNamespace);
    var expected = reading("services", "endpoints", "revisions.serving.knative.dev");
    expected.addAll(following("endpointslices.discovery.k8s.io"));
    assertThat(rights(chart.only("ClusterRole"))).isEqualTo(expected);
  }

  @Test
  void isKnativesAloneWithoutThem() {
    var chart = Chart.replacing("rbac: {endpointSlices: false}");

    assertThat(rights(chart.only("ClusterRole")))
        .isEqualTo(reading("services", "endpoints", "revisions.serving.knative.dev"));
  }

  @Test
  void addsPodsOnly_whenRequested() {
    assertThat(rights(Chart.replacing("rbac: {pods: true}").only("ClusterRole")))
        .containsAll(following("pods")).doesNotContain("get pods");
  }

  @Test
  void addsEventsOnlyWhenRequestedInEachMode() {
    for (var mode : new String[]{"replace", "beside", "standalone"}) {
      assertThat(clusterWide(mode, true)).containsAll(following("events"))
          .doesNotContain("get events");
      assertThat(clusterWide(mode, false)).doesNotContain("list events");
    }
  }

  private static Set<String> clusterWide(String mode, boolean events) {
    var all = new TreeSet<String>();
    Chart.installed(mode.equals("beside") ? "trial" : "activator", NAMESPACE, "mode: " + mode,
        "rbac: {events: " + events + "}")
        .all("ClusterRole").forEach(role -> all.addAll(rights(role)));
    return all;
  }

  @Test
  void writesEndpointSlicesOnlyWhereServicesMayBeCaught() {
    var off = Chart.installed("activator", NAMESPACE, "mode: standalone");
    var on = Chart.installed("activator", NAMESPACE, "mode: standalone",
        "standalone: {catchService: true, namespaces: [shop]}");
    var write = Set.of("create endpointslices.discovery.k8s.io",
        "patch endpointslices.discovery.k8s.io", "delete endpointslices.discovery.k8s.io");

    off.all("ClusterRole")
        .forEach(role -> assertThat(rights(role)).doesNotContainAnyElementsOf(write));
    assertThat(on.all("ClusterRole"))
        .filteredOn(role -> rights(role).containsAll(write)).singleElement()
        .satisfies(role -> {
          var name = role.at("/metadata/name").asString();
          assertThat(on.names()).contains("RoleBinding shop/" + name)
              .doesNotContain("ClusterRoleBinding " + name);
        });
  }

  @Test
  void readsOnlyListedSecrets_whoseValuesAreSentToUrls() {
    var on = Chart.installed("activator", NAMESPACE, "mode: standalone",
        "standalone: {namespaces: [shop], wake: {http: {prefixes: ['https://a.b/v1', 'http://c/'],"
            + " secrets: [machines]}}}");

    Chart.installed("activator", NAMESPACE, "mode: standalone").all("ClusterRole")
        .forEach(role -> {
          assertThat(rights(role)).doesNotContain("get secrets");
        });
    assertThat(on.all("ClusterRole")).filteredOn(role -> rights(role).contains("get secrets"))
        .singleElement().satisfies(role -> {
          assertThat(on.names())
              .contains("RoleBinding shop/" + role.at("/metadata/name").asString());
          assertThat(role.path("rules").toString())
              .contains("\"resourceNames\":[\"machines\"],\"verbs\":[\"get\"]");
        });
    assertThat(on.all("ClusterRole")).filteredOn(role -> role.at("/metadata/name").asString()
        .endsWith("-cluster")).singleElement().satisfies(role -> assertThat(rights(role)).contains(
            "get scaledservices.activator.dev",
            "patch scaledservices/status.activator.dev"));
    assertThat(on.only("Deployment").at("/spec/template/spec/containers/0/env").toString())
        .contains("\"ACTIVATOR_ACTUATORS_HTTP\",\"value\":\"https://a.b/v1,http://c/\"");
  }

  @Test
  void patchesObjectsOnlyOfListedResources_whichTheSettingHas() {
    var on = Chart.installed("activator", NAMESPACE, "mode: standalone",
        "standalone: {namespaces: [shop], wake: {patch: [sandboxes.agents.x-k8s.io, pods]}}");
    var patches = Set.of("get sandboxes.agents.x-k8s.io", "patch sandboxes.agents.x-k8s.io",
        "get pods", "patch pods");

    Chart.installed("activator", NAMESPACE, "mode: standalone").all("ClusterRole")
        .forEach(role -> assertThat(rights(role)).doesNotContainAnyElementsOf(patches));
    assertThat(on.all("ClusterRole"))
        .filteredOn(role -> rights(role).containsAll(patches)).singleElement()
        .satisfies(role -> assertThat(on.names())
            .contains("RoleBinding shop/" + role.at("/metadata/name").asString()));
    assertThat(on.all("ClusterRole")).filteredOn(role -> role.at("/metadata/name").asString()
        .endsWith("-cluster")).singleElement().satisfies(role -> assertThat(rights(role))
            .containsAll(following("sandboxes.agents.x-k8s.io", "pods"))
            .doesNotContainAnyElementsOf(patches));
    assertThat(on.only("Deployment").at("/spec/template/spec/containers/0/env").valueStream()
        .filter(one -> one.path("name").asString().equals("ACTIVATOR_ACTUATORS_PATCH")))
        .singleElement().extracting(one -> one.path("value").asString())
        .isEqualTo("sandboxes.agents.x-k8s.io,pods");
  }

  @Test
  void resizesPodsOnlyIfPermitted_andThenInTheNamespacesOnly() {
    var on = Chart.installed("activator", NAMESPACE, "mode: standalone",
        "standalone: {namespaces: [shop], shrinkPods: true}");

    Chart.installed("activator", NAMESPACE, "mode: standalone").all("ClusterRole")
        .forEach(role -> assertThat(rights(role)).doesNotContain("patch pods/resize"));
    assertThat(on.all("ClusterRole")).filteredOn(role -> rights(role).contains("patch pods/resize"))
        .singleElement().satisfies(role -> {
          assertThat(rights(role)).contains("get pods", "list pods").doesNotContain("patch pods");
          assertThat(on.names())
              .contains("RoleBinding shop/" + role.at("/metadata/name").asString());
        });
  }

  @Test
  void patchesPodsOnlyForDeletionCosts_whichTheSettingHas() {
    var on = Chart.installed("activator", NAMESPACE, "mode: standalone", "rbac: {pods: true}",
        "standalone: {namespaces: [shop], podDeletionCost: true}");

    Chart.installed("activator", NAMESPACE, "mode: standalone", "rbac: {pods: true}")
        .all("ClusterRole")
        .forEach(role -> assertThat(rights(role)).doesNotContain("patch pods"));
    assertThat(on.all("ClusterRole")).filteredOn(role -> rights(role).contains("patch pods"))
        .singleElement().satisfies(role -> assertThat(on.names())
            .contains("RoleBinding shop/" + role.at("/metadata/name").asString()));
    assertThat(on.only("Deployment").at("/spec/template/spec/containers/0/env").valueStream()
        .filter(one -> one.path("name").asString().equals("ACTIVATOR_AFFINITY_PODDELETIONCOST")))
        .singleElement().extracting(one -> one.path("value").asString()).isEqualTo("true");
  }

  @Test
  void readsOtherConfigMapsAndSecretsOnlyByTheNamesOfTrustBundles() {
    var off = Chart.installed("activator", NAMESPACE, "mode: standalone");
    var on = Chart.installed("activator", NAMESPACE, "mode: standalone",
        "standalone: {namespaces: [shop], trustBundles: {configMaps: [ca], secrets: [web-tls]}}");

    off.all("ClusterRole").forEach(role -> assertThat(rights(role))
        .noneMatch(right -> right.endsWith(" configmaps") || right.endsWith(" secrets")));
    var rules = on.all("ClusterRole").stream()
        .flatMap(role -> role.path("rules").valueStream()).toList();
    assertThat(rules)
        .filteredOn(rule -> List.of("configmaps", "secrets")
            .contains(rule.at("/resources/0").asString()))
        .extracting(JsonNode::toString).containsExactlyInAnyOrder(
            "{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],\"resourceNames\":[\"ca\"],"
                + "\"verbs\":[\"list\",\"watch\"]}",
            "{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"resourceNames\":[\"web-tls\"],"
                + "\"verbs\":[\"list\",\"watch\"]}");
    assertThat(on.names()).noneMatch(name -> name.startsWith("ClusterRoleBinding")
        && name.endsWith("-scale"));
  }

  @Test
  void changesNoSecretButTheKeyOfTheActivators() {
    for (var chart : new Chart[]{Chart.replacing(),
        Chart.installed("activator", NAMESPACE, "mode: standalone")}) {
      for (var rule : chart.only("Role").path("rules")) {
        if (rule.path("resources").toString().contains("secrets")
            && rule.path("verbs").toString().contains("update")) {
          assertThat(rule.path("resourceNames").toString()).isEqualTo("[\"activator-peers\"]");
        }
      }
      assertThat(chart.names()).contains("Secret " + NAMESPACE + "/activator-peers");
    }
    assertThat(rights(Chart.beside().only("Role"))).doesNotContain(UPDATE_SECRETS);
  }

  @Test
  void isGivenToTheAccountThePodsRunUnder() {
    for (var chart : new Chart[]{Chart.replacing(), Chart.beside(),
        Chart.replacing("serviceAccount: {create: false, name: other}")}) {
      String account = chart.pods().path("serviceAccountName").asString();
      for (var kind : new String[]{"RoleBinding", "ClusterRoleBinding"}) {
        var binding = chart.only(kind);

        assertThat(binding.at("/subjects/0/name").asString()).isEqualTo(account);
        assertThat(binding.at("/subjects/0/namespace"))
            .isEqualTo(chart.only("Deployment").at("/metadata/namespace"));
        assertThat(binding.at("/roleRef/name"))
            .isEqualTo(chart.only(kind.replace("Binding", "")).at("/metadata/name"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = EndpointsSource.class, names = {"ENDPOINTS", "ENDPOINTSLICES"})
  void allowsWhatIsEverRequestedAndNoMore(EndpointsSource source) throws Exception {
    // given an activator that follows all there is: maps, certificates, pods that do not start
    try (var api = EmbeddedApi.start();
        var cluster = Quiescence
            .watch(Make.cluster(() -> new ClusterAccess.At(URI.create(api.url())), PATIENCE,
                ReflectorSettings.DEFAULT, PodAddressPreference.of(source, "10.0.0.1")));
        var pods = new PodStartWatch(cluster, Duration.ofMinutes(1))) {
      api.store().create(BuiltInKinds.SECRET, CERTIFICATE);
      api.store().create(BuiltInKinds.CONFIG_MAP, NETWORK);
      api.store().create(BuiltInKinds.REVISION, Objects.parse("""
          {'metadata': {'namespace': 'ns', 'name': 'late'},
           'spec': {'containers': [{'image': 'late'}]}}
          """));
      var pod = Objects.parse("""
          {'metadata': {'namespace': 'ns', 'name': 'late-pod',
            'labels': {'serving.knative.dev/revision': 'late'}}, 'spec': {'containers': []},
           'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',
            'status': 'False', 'reason': 'Unschedulable'}]}}
          """);
      api.store().create(BuiltInKinds.POD, pod);
      api.store().writes().replaceStatus(BuiltInKinds.POD, pod);
      cluster.onConfigMap(NAMESPACE, "config-network", _ -> {
      });
      cluster.start();
      pods.start();
      cluster.followCertificates(NAMESPACE, new Passed());
      api.store().create(BuiltInKinds.SECRET, PEERS);
      assertThat(new PeerSecret(cluster::api, NAMESPACE).read().join())
          .isInstanceOf(Answer.Found.class);

      // when a request waits for a revision, then the roles of both modes allow just what is asked
      for (var chart : new Chart[]{Chart.replacing(ALL), Chart.beside(ALL)}) {
        var allowed = rights(chart.only("ClusterRole"));
        allowed.addAll(rights(chart.only("Role")));
        // No other object is asked for alone; Knative's role permits it.
        allowed.removeIf(right -> right.startsWith("get ") && !right.equals("get secrets"));
        // Only one of the two is followed.
        allowed.removeIf(right -> right.endsWith(source == EndpointsSource.ENDPOINTS
            ? " endpointslices.discovery.k8s.io"
            : " endpoints"));
        await().untilAsserted(() -> {
          pods.onRequestWaits(new RevisionId("ns", "late"));
          new EventFetcher(cluster::api, () -> 0, EventFetcher.TIMEOUT)
              .read(new EventFetcher.Objects("ns", Set.of("late"), "late"))
              .join();
          var asked = asked(api);
          // No Service has both kinds of activators, so those beside have no peers.
          asked.removeIf(right -> right.equals(UPDATE_SECRETS) && !allowed.contains(right));
          assertThat(asked).isEqualTo(allowed);
        });
      }
    }
  }

  private static Set<String> asked(EmbeddedApi api) {
    var asked = new TreeSet<String>();
    api.faults().journal().calls(Match.requests(ABOUT_OBJECTS))
        .forEach(call -> asked.add(right(call)));
    return asked;
  }

  private static String right(Call call) {
    return call.asked().verb().name().toLowerCase(Locale.ROOT) + " "
        + call.asked().about().resource();
  }

  private static Set<String> reading(String... resources) {
    var rights = following(resources);
    for (String resource : resources) {
      rights.add("get " + resource);
    }
    return rights;
  }

  private static Set<String> following(String... resources) {
    var rights = new TreeSet<String>();
    for (String resource : resources) {
      rights.add("list " + resource);
      rights.add("watch " + resource);
    }
    return rights;
  }

  /** Verb and resource of each rule, as in {@code list revisions.serving.knative.dev}. */
  private static Set<String> rights(JsonNode role) {
    var rights = new TreeSet<String>();
    for (var rule : role.path("rules")) {
      for (var group : rule.path("apiGroups")) {
        for (var resource : rule.path("resources")) {
          for (var verb : rule.path("verbs")) {
            String suffix = group.asString().isEmpty() ? "" : "." + group.asString();
            rights.add(verb.asString() + " " + resource.asString() + suffix);
          }
        }
      }
    }
    return rights;
  }
}
