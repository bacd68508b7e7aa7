package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.ClusterAccess;
import dev.activator.kube.Rig;
import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.kube.policy.IpFamily;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.cache.Windows;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ObjectNode;

/**
 * EndpointSlices of a few revisions, written at random while everything legal goes wrong: split,
 * moved between revisions, deleted. In the end each revision's pods are those of all its slices.
 */
class SlicesConvergenceTest {
  private static final int ROUNDS = Integer.getInteger("convergence.rounds", 6);
  private static final int SLICES = 12;
  private static final int WRITES_A_ROUND = 40;

  /** The revision and the pods that the slice of a name was given last. */
  private final Map<String, Map.Entry<String, TreeSet<String>>> truth = new TreeMap<>();
  private final Map<String, String> received = new ConcurrentSkipListMap<>();

  static LongStream seeds() {
    return LongStream.range(0, 6);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void endsWithThePodsOfAllSlices(long seed) throws Exception {
    var random = new Random(seed);
    try (var api = EmbeddedApi.start(Windows.of(300));
        var cluster = cluster(api)) {
      api.faults().seed(seed);
      cluster.start();
      for (int round = 0; round < ROUNDS; round++) {
        ConvergenceTest.disturb(api, BuiltInKinds.ENDPOINT_SLICE, random);
        for (int i = 0; i < WRITES_A_ROUND; i++) {
          write(api, "slice-" + random.nextInt(SLICES), random);
        }
      }

      api.faults().heal();
      await()
          .untilAsserted(() -> assertThat(Map.copyOf(received)).isEqualTo(expected()));
    }
  }

  private ClusterWatcher cluster(EmbeddedApi api) {
    var cluster = Quiescence
        .watch(Make.cluster(() -> new ClusterAccess.At(URI.create(api.url())),
            Duration.ofSeconds(120), Rig.QUICK,
            new PodAddressPreference(EndpointsSource.ENDPOINTSLICES, IpFamily.IPV4)));
    cluster.pods().subscribe("test",
        pods -> received.put(pods.revision().name(), pods.http1().ready().toString()));
    cluster.podsGone().subscribe("test", last -> received.remove(last.revision().name()));
    return cluster;
  }

  private void write(EmbeddedApi api, String name, Random random) {
    var store = api.store();
    boolean exists = truth.containsKey(name);
    if (exists && random.nextInt(4) == 0) {
      truth.remove(name);
      store.delete(BuiltInKinds.ENDPOINT_SLICE, "ns", name);
      return;
    }
    var revision = "r" + random.nextInt(3);
    var pods = new TreeSet<String>();
    random.ints(random.nextInt(4), 1, 6).forEach(pod -> pods.add("10.0.0." + pod));
    truth.put(name, Map.entry(revision, pods));
    var slice = slice(name, revision, pods);
    if (exists) {
      store.edit(BuiltInKinds.ENDPOINT_SLICE, "ns", name, _ -> slice.deepCopy());
    } else {
      store.create(BuiltInKinds.ENDPOINT_SLICE, slice);
    }
  }

  private static ObjectNode slice(String name, String revision, TreeSet<String> pods) {
    var slice = Objects.parse("""
        {'apiVersion': 'discovery.k8s.io/v1', 'kind': 'EndpointSlice',
         'metadata': {'namespace': 'ns', 'name': '%s',
         'labels': {'serving.knative.dev/revision': '%s', 'serving.knative.dev/revisionUID': 'u',
         'networking.internal.knative.dev/serviceType': 'Private',
         'kubernetes.io/service-name': '%s-private'}}, 'addressType': 'IPv4',
         'endpoints': [], 'ports': [{'name': 'http', 'port': 8012}]}
        """.formatted(name, revision, revision));
    pods.forEach(pod -> slice.withArrayProperty("endpoints").addObject().putArray("addresses")
        .add(pod));
    return slice;
  }

  private Map<String, String> expected() {
    var pods = new TreeMap<String, TreeSet<String>>();
    truth.values().forEach(slice -> slice.getValue().forEach(
        pod -> pods.computeIfAbsent(slice.getKey(), _ -> new TreeSet<>()).add(pod + ":8012")));
    truth.values().forEach(slice -> pods.computeIfAbsent(slice.getKey(), _ -> new TreeSet<>()));
    var texts = new TreeMap<String, String>();
    pods.forEach((revision, its) -> texts.put(revision, its.toString()));
    return texts;
  }
}
