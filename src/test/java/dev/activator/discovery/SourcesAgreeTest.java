package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.Yaml;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.policy.IpFamily;
import dev.activator.discovery.policy.MergedEndpoints;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness.Identity;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Seeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The same pods, as the two controllers of Kubernetes would write them down. Whatever is behind or
 * said twice, both mean the same; but for pods that are ending, which Endpoints do not have.
 */
class SourcesAgreeTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");
  private static final int PODS = 6;

  /** A pod; {@code state} is one of ready, notReady, leaving, gone. */
  private record Pod(int number, String state, boolean dualStack, boolean named) {
    String ip() {
      return "10.0.0." + number;
    }

    Destination destination() {
      return new Destination(ip(), 8012);
    }

    boolean is(String expected) {
      return state.equals(expected);
    }
  }

  private final Map<Integer, Pod> pods = new TreeMap<>();
  private final IndexedStore<ObjectDecodeResult<RevisionEndpointSlice>> store = new IndexedStore<>();
  private final RevisionChangePublisher<PrivateEndpoints> received = new RevisionChangePublisher<>(
      "pods");
  private final MergedEndpointsPublisher events = new MergedEndpointsPublisher(store, IpFamily.IPV4,
      _ -> "u1",
      received,
      new RevisionChangePublisher<>("public Endpoints"));

  @Test
  void reportsTheSamePods_fromSlicesAndEndpoints() {
    Seeds.each(seed -> new SourcesAgreeTest().reportsTheSamePods_fromSlicesAndEndpoints(seed));
  }

  private void reportsTheSamePods_fromSlicesAndEndpoints(long seed) {
    var random = new Random(seed);
    for (int step = 0; step < 12; step++) {
      change(random);
      write(slicesOf(random), random);

      assertThat(received.find(REVISION)).isEqualTo(expected());
    }
  }

  private void change(Random random) {
    for (int i = 0; i < 1 + random.nextInt(3); i++) {
      int number = 1 + random.nextInt(PODS);
      if (random.nextInt(4) == 0) {
        pods.remove(number);
      } else {
        var state = List.of("ready", "notReady", "leaving", "gone").get(random.nextInt(4));
        boolean named = random.nextInt(5) > 0;
        // One that is not named cannot be ending: it comes from Endpoints that were copied.
        pods.put(number, new Pod(number, named || state.endsWith("eady") ? state : "ready",
            named && random.nextInt(4) == 0, named));
      }
    }
  }

  /** What Endpoints say, and, while none of them is ready, those that end. */
  private PrivateEndpoints expected() {
    var endpoints = Objects
        .requireNonNull(Yaml.decoded(KnativeKinds.ENDPOINTS, endpoints()).value());
    var listing = MergedEndpoints.of(List.of(endpoints), "u1", IpFamily.IPV4).pods(REVISION);
    if (!listing.http1().ready().isEmpty()) {
      return listing;
    }
    var leaving = DestinationSet.of(pods.values().stream().filter(pod -> pod.is("leaving"))
        .map(Pod::destination).toList());
    return new PrivateEndpoints(REVISION,
        new PodsByReadiness(leaving, listing.http1().notReady(), leaving, pods.values().stream()
            .filter(Pod::named).collect(Collectors.toMap(Pod::destination,
                pod -> new Identity("pod" + pod.number(), "")))),
        PodsByReadiness.NONE);
  }

  private static String metadata(String name) {
    return """
        metadata: {namespace: ns, name: %s, labels: {serving.knative.dev/revision: rev,
          serving.knative.dev/revisionUID: u1, kubernetes.io/service-name: rev-private,
          networking.internal.knative.dev/serviceType: Private}}
        """.formatted(name);
  }

  private String endpoints() {
    return metadata("rev-private") + """
        subsets: [{ports: [{name: http, port: 8012}], addresses: [%s], notReadyAddresses: [%s]}]
        """.formatted(ips("ready"), ips("notReady"));
  }

  private String ips(String state) {
    return pods.values().stream().filter(pod -> pod.is(state))
        .map(pod -> "{ip: " + pod.ip() + (pod.named()
            ? ", targetRef: {kind: Pod, uid: pod" + pod.number() + "}}"
            : "}"))
        .collect(Collectors.joining(", "));
  }

  /** Each pod in one of some slices, some in two of them, and some in one of the other family. */
  private Map<String, VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>>> slicesOf(
      Random random) {
    var members = new LinkedHashMap<String, List<String>>();
    members.put("v4-0", new ArrayList<>());
    for (var pod : pods.values()) {
      int copies = random.nextInt(4) == 0 ? 2 : 1;
      for (int i = 0; i < copies; i++) {
        members.computeIfAbsent("v4-" + random.nextInt(4), _ -> new ArrayList<>())
            .add(endpoint(pod, pod.ip()));
      }
      if (pod.dualStack()) {
        members.computeIfAbsent("v6-" + random.nextInt(2), _ -> new ArrayList<>())
            .add(endpoint(pod, "\"fd00::" + pod.number() + "\""));
      }
    }
    var made = new TreeMap<String, VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>>>();
    members.forEach((name, its) -> made.put(name, slice(name, its)));
    return made;
  }

  private static String endpoint(Pod pod, String ip) {
    boolean serves = pod.is("ready") || pod.is("leaving");
    boolean ends = pod.is("leaving") || pod.is("gone");
    return "{addresses: [%s], conditions: {ready: %s, serving: %s, terminating: %s}%s}".formatted(
        ip, pod.is("ready"), serves, ends,
        pod.named() ? ", targetRef: {kind: Pod, uid: pod" + pod.number() + "}" : "");
  }

  private static VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>> slice(String name,
      List<String> endpoints) {
    return Yaml.object(KnativeKinds.ENDPOINT_SLICES, metadata(name) + """
        addressType: %s
        ports: [{name: http, port: 8012}]
        endpoints: [%s]
        """.formatted(name.startsWith("v4") ? "IPv4" : "IPv6", String.join(", ", endpoints)));
  }

  /** Tells of each slice that is another now, in any order. */
  private void write(Map<String, VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>>> next,
      Random random) {
    var names = new ArrayList<>(next.keySet());
    store.all().stream().map(one -> one.key().substring(3)).filter(name -> !next.containsKey(name))
        .sorted().forEach(names::add);
    Collections.shuffle(names, random);
    for (var name : names) {
      var before = store.find("ns/" + name);
      var now = next.get(name);
      if (now == null) {
        store.remove("ns/" + name);
      } else {
        store.put(now);
      }
      if (!Objects.equals(value(before), value(now))) {
        events.changed(value(before), value(now));
      }
    }
  }

  private static @Nullable RevisionEndpointSlice value(
      @Nullable VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>> object) {
    return object == null ? null : object.object().value();
  }
}
