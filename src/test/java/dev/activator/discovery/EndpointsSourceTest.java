package dev.activator.discovery;

import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.StartFailure;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.policy.IpFamily;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Lifetime;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.quiescence.Quiescence;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** Pods from either kind of object, over real HTTP. */
class EndpointsSourceTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private final EmbeddedApi api = EmbeddedApi.start();
  private final Map<String, String> received = new ConcurrentSkipListMap<>();
  private final List<ClusterWatcher> clusters = new ArrayList<>();

  @AfterEach
  void close() {
    clusters.forEach(ClusterWatcher::close);
    api.faults().heal();
    api.close();
  }

  private ClusterWatcher cluster(EndpointsSource source, Duration patience) {
    var cluster = Quiescence
        .watch(Make.cluster(() -> new ClusterAccess.At(URI.create(api.url())), patience,
            ReflectorSettings.DEFAULT, new PodAddressPreference(source, IpFamily.IPV4)));
    clusters.add(cluster);
    cluster.pods().subscribe("test",
        pods -> received.put(pods.revision().name(), pods.http1().ready().toString()));
    cluster.podsGone().subscribe("test", last -> received.remove(last.revision().name()));
    cluster.publicAddresses().subscribe("test",
        them -> received.put("activators of " + them.revision().name(), them.http1().toString()));
    return cluster;
  }

  private void start(EndpointsSource source) throws InterruptedException {
    cluster(source, PATIENCE).start();
  }

  private void endpoints(String ip) {
    put(BuiltInKinds.ENDPOINTS, "rev-private", Objects.parse("""
        {'metadata': {'namespace': 'ns', 'name': 'rev-private',
         'labels': {'serving.knative.dev/revision': 'rev', 'serving.knative.dev/revisionUID': 'u',
         'networking.internal.knative.dev/serviceType': 'Private'}},
         'subsets': [{'addresses': [{'ip': '%s'}], 'ports': [{'name': 'http', 'port': 8012}]}]}
        """.formatted(ip)));
  }

  private void slice(String name, String type, String service, String ip) {
    put(BuiltInKinds.ENDPOINT_SLICE, name, Objects.parse("""
        {'metadata': {'namespace': 'ns', 'name': '%s',
         'labels': {'serving.knative.dev/revision': 'rev', 'serving.knative.dev/revisionUID': 'u',
         'networking.internal.knative.dev/serviceType': '%s',
         'kubernetes.io/service-name': '%s'}}, 'addressType': 'IPv4',
         'endpoints': [{'addresses': ['%s']}], 'ports': [{'name': 'http', 'port': 8012}]}
        """.formatted(name, type, service, ip)));
  }

  private void slice(String name, String ip) {
    slice(name, "Private", "rev-private", ip);
  }

  private void put(Kind kind, String name, ObjectNode object) {
    if (api.store().find(kind, "ns", name) == null) {
      api.store().create(kind, object);
    } else {
      api.store().edit(kind, "ns", name, before -> {
        object.set("metadata", before.get("metadata"));
        return object;
      });
    }
  }

  private void hears(Map<String, String> expected) {
    await().untilAsserted(() -> assertThat(Map.copyOf(received)).isEqualTo(expected));
  }

  @Test
  @DisplayName("EndpointSlices are read where we may, whatever Endpoints there are")
  void takesSlicesWhereTheyMayBeRead() throws Exception {
    endpoints("10.0.0.9");
    slice("rev-private-a", "10.0.0.1");
    slice("rev-private-b", "10.0.0.2");

    start(EndpointsSource.AUTO);
    assertThat(received).isEqualTo(Map.of("rev", "[10.0.0.1:8012, 10.0.0.2:8012]"));

    slice("rev-private-b", "10.0.0.3");
    hears(Map.of("rev", "[10.0.0.1:8012, 10.0.0.3:8012]"));
    api.store().delete(BuiltInKinds.ENDPOINT_SLICE, "ns", "rev-private-a");
    hears(Map.of("rev", "[10.0.0.3:8012]"));
    slice("rev-a", "Public", "rev", "10.0.0.7");
    hears(Map.of("rev", "[10.0.0.3:8012]", "activators of rev", "[10.0.0.7]"));
    api.store().delete(BuiltInKinds.ENDPOINT_SLICE, "ns", "rev-private-b");
    hears(Map.of("activators of rev", "[10.0.0.7]"));
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(EndpointsSource.class)
  void takesEndpointsWhereSlicesMayNotBeListed_unlessConfigured(EndpointsSource source)
      throws Exception {
    takesEndpointsWhenSlicesAreAnswered(403, source);
  }

  @Test
  void takesEndpointsWhereSlicesMayNotBeWatched() throws Exception {
    api.faults().add(Match.requests(Verb.WATCH).of(BuiltInKinds.ENDPOINT_SLICE),
        Fault.Answer.status(403));
    endpoints("10.0.0.9");
    slice("rev-private-a", "10.0.0.1");

    start(EndpointsSource.AUTO);
    assertThat(received).isEqualTo(Map.of("rev", "[10.0.0.9:8012]"));
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(EndpointsSource.class)
  void takesEndpointsWhereSlicesAreNotServed_unlessConfigured(EndpointsSource source)
      throws Exception {
    takesEndpointsWhenSlicesAreAnswered(404, source);
  }

  private void takesEndpointsWhenSlicesAreAnswered(int status, EndpointsSource source)
      throws InterruptedException {
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINT_SLICE),
        Fault.Answer.status(status));
    endpoints("10.0.0.9");
    slice("rev-private-a", "10.0.0.1");

    if (source == EndpointsSource.ENDPOINTSLICES) {
      assertThat(StartFailure.of(patience -> cluster(source, patience).start()))
          .contains(status == 403
              ? "list endpointslices.discovery.k8s.io -A (403)"
              : "endpointslices.discovery.k8s.io (404)");
    } else {
      start(source);
      assertThat(received).isEqualTo(Map.of("rev", "[10.0.0.9:8012]"));
    }
  }

  @Test
  void takesSlicesWhereEndpointsMayNotBeListed() throws Exception {
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINTS),
        Fault.Answer.status(403));
    start(EndpointsSource.AUTO);

    slice("rev-private-a", "10.0.0.1");

    hears(Map.of("rev", "[10.0.0.1:8012]"));
  }

  @Test
  void takesSlicesThoughThereIsNoneYet() throws Exception {
    start(EndpointsSource.AUTO);

    endpoints("10.0.0.9");
    slice("rev-private-a", "10.0.0.1");

    hears(Map.of("rev", "[10.0.0.1:8012]"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"LIST, 503", "LIST, 404", "WATCH, 500"})
  void triesAgainWhereSlicesAreRefusedAtFirst(Verb verb, int status) throws Exception {
    api.faults().add(Match.requests(verb).of(BuiltInKinds.ENDPOINT_SLICE),
        Fault.Answer.status(status), new Lifetime.Times(1));

    takesSlices();
  }

  @ParameterizedTest(name = "{0} requests for each kind")
  @ValueSource(ints = {1, 2})
  void triesAgainWhereAllIsForbiddenAtFirst(int requests) throws Exception {
    for (var kind : List.of(BuiltInKinds.ENDPOINT_SLICE, BuiltInKinds.ENDPOINTS)) {
      api.faults().add(Match.requests(Verb.LIST).of(kind), Fault.Answer.status(403),
          new Lifetime.Times(requests));
    }

    takesSlices();
  }

  @Test
  void takesSlicesThatMayBeReadAsSoonAsEndpoints() throws Exception {
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINT_SLICE),
        Fault.Answer.status(403), new Lifetime.Times(1));

    takesSlices();
  }

  @Test
  void namesEndpoints_ifTheyFailWhereSlicesMayNotBeListed() {
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINT_SLICE),
        Fault.Answer.status(403));
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINTS),
        Fault.Answer.status(503));

    assertThat(StartFailure.of(patience -> cluster(EndpointsSource.AUTO, patience).start()))
        .contains("503 to list endpoints -A");
  }

  private void takesSlices() throws Exception {
    endpoints("10.0.0.9");
    slice("rev-private-a", "10.0.0.1");

    start(EndpointsSource.AUTO);

    assertThat(received).isEqualTo(Map.of("rev", "[10.0.0.1:8012]"));
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(value = EndpointsSource.class, names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
  void survivesWhateverIsWrittenIntoThem(EndpointsSource source) throws Exception {
    // given objects that are not as they should be
    var bad = """
        {'metadata': {'namespace': 'ns', 'name': 'bad', 'labels':
         {'serving.knative.dev/revision': 'bad', 'serving.knative.dev/revisionUID': 'u',
         'networking.internal.knative.dev/serviceType': 'Private'}},
         'addressType': %s, 'endpoints': %s, 'ports': %s, 'subsets': %s}
        """;
    int number = 0;
    for (var rest : List.of(List.of("'IPv4'", "[{'addresses': []}]", "[]", "[{'addresses': []}]"),
        List.of("'IPv4'", "[{'addresses': ['no-ip']}]", "null",
            "[{'addresses': [{'ip': 'no-ip'}], 'ports': [{'name': 'http', 'port': 1}]}]"),
        List.of("7", "{}", "'x'", "[{'addresses': [{'ip': '10.0.0.1'}]}]"),
        List.of("'FQDN'", "[7]", "[7]", "[7]"),
        List.of("'IPv4'", "[{'addresses': ['10.0.0.1', '10.0.0.1']}, {'addresses': ['10.0.0.1']}]",
            "[{'name': 'http', 'port': 70000}]",
            "[{'ports': [{'name': 'http', 'port': 70000}]}]"))) {
      var object = Objects.parse(bad.formatted(rest.toArray()));
      ((ObjectNode) object.get("metadata")).put("name", "bad" + number++);
      api.store().create(BuiltInKinds.ENDPOINT_SLICE, object.deepCopy());
      api.store().create(BuiltInKinds.ENDPOINTS, object);
    }
    start(source);

    // when one comes that is
    endpoints("10.0.0.1");
    slice("rev-private-a", "10.0.0.1");

    // then it is heard of
    await()
        .untilAsserted(
            () -> assertThat(Map.copyOf(received)).containsEntry("rev", "[10.0.0.1:8012]"));
  }
}
