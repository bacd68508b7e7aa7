package dev.activator.chart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.Cluster;
import dev.activator.cluster.ClusterAccess;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.embedded.api.faults.Call;
import dev.activator.embedded.api.faults.Match;
import dev.activator.embedded.api.faults.Verb;
import dev.activator.testing.EmbeddedApi;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What the chart lets the activator do, against what it does. */
class RbacTest {
  private static final Verb[] ABOUT_OBJECTS = EnumSet.complementOf(EnumSet.of(Verb.OTHER))
      .toArray(Verb[]::new);

  @Test
  void isKnativesWithEndpointSlices() {
    var chart = Chart.replacing();

    assertThat(rights(chart.only("Role"))).isEqualTo(reading("configmaps", "secrets"));
    assertThat(rights(chart.only("ClusterRole"))).isEqualTo(reading("services", "endpoints",
        "revisions.serving.knative.dev", "endpointslices.discovery.k8s.io"));
  }

  @Test
  void isKnativesAloneWithoutThem() {
    var chart = Chart.replacing("rbac: {endpointSlices: false}");

    assertThat(rights(chart.only("ClusterRole")))
        .isEqualTo(reading("services", "endpoints", "revisions.serving.knative.dev"));
  }

  @Test
  void addsPodsOnlyWhenAsked() {
    assertThat(rights(Chart.replacing("rbac: {pods: true}").only("ClusterRole")))
        .containsAll(reading("pods"));
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

  @Test
  void allowsAllThatInformersAsk() throws Exception {
    // given what an activator asks of an API from its start until it has heard of everything
    try (var api = EmbeddedApi.start();
        var cluster = new Cluster(() -> new ClusterAccess.At(URI.create(api.url())),
            KubernetesVersion.MINIMUM, Duration.ofSeconds(30), ReflectorSettings.DEFAULT,
            new Random(1))) {
      cluster.start();
      var asked = new TreeSet<String>();
      api.faults().journal().calls(Match.requests(ABOUT_OBJECTS))
          .forEach(call -> asked.add(right(call)));

      // then the roles of both modes allow it
      assertThat(asked).contains("list endpoints");
      for (var chart : new Chart[]{Chart.replacing(), Chart.beside()}) {
        var allowed = rights(chart.only("ClusterRole"));
        allowed.addAll(rights(chart.only("Role")));
        assertThat(allowed).containsAll(asked);
      }
    }
  }

  private static String right(Call call) {
    return call.asked().verb().name().toLowerCase(Locale.ROOT) + " "
        + call.asked().about().resource();
  }

  private static Set<String> reading(String... resources) {
    var rights = new TreeSet<String>();
    for (String resource : resources) {
      for (String verb : new String[]{"get", "list", "watch"}) {
        rights.add(verb + " " + resource);
      }
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
