package dev.activator.discovery.decode;

import dev.activator.kube.decode.ListWatchParser;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A list of 1,000 EndpointSlices, read by {@link EndpointSliceReader} and by Jackson's databind into
 * records of the same fields, without the checks that the reader makes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class ReadersBenchmark {
  private static final JsonFactory JSON = new JsonFactory();

  private final byte[] text = list(1_000).getBytes();
  private final JsonMapper mapper = JsonMapper.builder()
      .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  @Benchmark
  public Object reader() {
    try (var parser = JSON.createParser(ObjectReadContext.empty(), text)) {
      return ListWatchParser.page(KnativeKinds.ENDPOINT_SLICES, parser);
    }
  }

  @Benchmark
  public Object databind() {
    return mapper.readValue(text, Slices.class);
  }

  record Slices(ListMeta metadata, List<Slice> items) {}

  record ListMeta(String resourceVersion) {}

  record Slice(Meta metadata, String addressType, List<Endpoint> endpoints, List<Port> ports) {}

  record Meta(String name, String namespace, String uid, String resourceVersion,
      Map<String, String> labels, @Nullable Map<String, String> annotations) {}

  record Endpoint(List<String> addresses, Conditions conditions, Target targetRef) {}

  record Conditions(@Nullable Boolean ready, @Nullable Boolean serving,
      @Nullable Boolean terminating) {}

  record Target(String kind, String name) {}

  record Port(String name, int port, @Nullable String protocol) {}

  private static String list(int slices) {
    return "{\"kind\":\"EndpointSliceList\",\"apiVersion\":\"discovery.k8s.io/v1\",\"metadata\":"
        + "{\"resourceVersion\":\"77\"},\"items\":[" + IntStream.range(0, slices)
            .mapToObj(ReadersBenchmark::slice).collect(Collectors.joining(","))
        + "]}";
  }

  private static String slice(int index) {
    var revision = "hello-%05d".formatted(index);
    return """
        {"metadata":{"name":"%1$s-private-x7k2p","generateName":"%1$s-private-","namespace":"default",
        "uid":"7d1a7d5e-9f30-4a39-8e52-0000000%2$05d","resourceVersion":"%2$d","generation":3,
        "creationTimestamp":"2026-11-23T10:00:00Z","labels":{"app":"%1$s",
        "endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io",
        "kubernetes.io/service-name":"%1$s-private","networking.internal.knative.dev/serverlessservice":"%1$s",
        "networking.internal.knative.dev/serviceType":"Private","serving.knative.dev/revision":"%1$s",
        "serving.knative.dev/revisionUID":"0a1b2c3d-0000-0000-0000-0000000%2$05d"},
        "annotations":{"endpoints.kubernetes.io/last-change-trigger-time":"2026-11-23T10:00:00Z"},
        "ownerReferences":[{"apiVersion":"v1","kind":"Service","name":"%1$s-private","uid":"9",
        "controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager",
        "operation":"Update","apiVersion":"discovery.k8s.io/v1","time":"2026-11-23T10:00:00Z",
        "fieldsType":"FieldsV1","fieldsV1":{"f:addressType":{},"f:endpoints":{},"f:metadata":{"f:labels":
        {".":{},"f:app":{}}},"f:ports":{}}}]},"addressType":"IPv4","endpoints":[%3$s],
        "ports":[{"name":"http","port":8012,"protocol":"TCP"},{"name":"http-queueadm","port":8022,"protocol":"TCP"}]}"""
        .formatted(revision, index,
            IntStream.range(0, 2)
                .mapToObj(
                    pod -> """
                        {"addresses":["10.%d.%d.%d"],"conditions":{"ready":true,"serving":true,"terminating":false},
                        "nodeName":"node-1","targetRef":{"kind":"Pod","namespace":"default","name":"%s-%d","uid":"u%d"}}"""
                        .formatted(index / 250, index % 250, pod, revision, pod, pod))
                .collect(Collectors.joining(",")));
  }
}
