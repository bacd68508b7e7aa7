package dev.activator.embedded.api.http;

import static java.time.temporal.ChronoUnit.SECONDS;

import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.policy.ResourcePath;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kind.Trait;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.PodProcessRegistry.Running;
import dev.activator.embedded.api.store.StatusException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves the kinds whose objects are computed, not stored: access reviews, the identity of the
 * caller, and the resource usage of pods. Access reviews allow everything.
 */
final class ComputedKinds {
  private static final Kind ACCESS_REVIEW = review("authorization.k8s.io",
      "SelfSubjectAccessReview");
  private static final Kind RULES_REVIEW = review("authorization.k8s.io",
      "SelfSubjectRulesReview");
  private static final Kind SUBJECT_REVIEW = review("authentication.k8s.io", "SelfSubjectReview");
  private static final Kind POD_METRICS = Kind.of("metrics.k8s.io", "v1beta1", "PodMetrics",
      "pods");
  static final List<Kind> ALL = List.of(ACCESS_REVIEW, RULES_REVIEW, SUBJECT_REVIEW, POD_METRICS);
  /**
   * The time over which CPU usage is measured. The CPU time of a process has a resolution of 10 ms.
   */
  private static final Duration WINDOW = Duration.ofSeconds(1);
  private static final long PAGE_BYTES = 4096;
  private static final String ANYTHING = "*";

  private final ApiStore store;

  private record Use(Duration cpu, long memoryBytes) {}

  ComputedKinds(ApiStore store) {
    this.store = store;
  }

  private static Kind review(String group, String kind) {
    return Kind.of(group, "v1", kind, kind.toLowerCase(Locale.ROOT) + "s",
        Trait.CLUSTER_SCOPED);
  }

  static List<String> verbs(Kind kind) {
    return kind.equals(POD_METRICS) ? List.of("get", "list") : List.of("create");
  }

  /** The response; empty if the path belongs to another kind. */
  Optional<Mono<ServerResponse>> answer(String path, ServerRequest request) {
    return ResourcePath.parse(path).flatMap(parsed -> ALL.stream()
        .filter(kind -> kind.group().equals(parsed.group())
            && kind.version().equals(parsed.version()) && kind.plural().equals(parsed.plural()))
        .findFirst().map(kind -> answer(kind, parsed, request)));
  }

  private Mono<ServerResponse> answer(Kind kind, ResourcePath path, ServerRequest request) {
    boolean reads = kind.equals(POD_METRICS);
    if (!request.method().equals(reads ? HttpMethod.GET : HttpMethod.POST)) {
      return Mono.error(StatusErrors.method());
    }
    return reads
        ? path.name().isEmpty()
            ? metrics(path, new QueryParameters(request)).flatMap(ApiResponseWriter::ok)
            : metrics(path).flatMap(ApiResponseWriter::ok)
        : ApiBodyReader.object(request)
            .flatMap(review -> ApiResponseWriter.created(reviewed(kind, review), List.of()));
  }

  private static ObjectNode reviewed(Kind kind, ObjectNode review) {
    var status = review.put("apiVersion", kind.apiVersion()).put("kind", kind.kind())
        .putObject("status");
    if (kind.equals(ACCESS_REVIEW)) {
      status.put("allowed", true).put("reason", "the embedded API allows everything");
    } else if (kind.equals(RULES_REVIEW)) {
      var rule = status.putArray("resourceRules").addObject();
      List.of("verbs", "apiGroups", "resources")
          .forEach(field -> rule.putArray(field).add(ANYTHING));
      var other = status.putArray("nonResourceRules").addObject();
      List.of("verbs", "nonResourceURLs").forEach(field -> other.putArray(field).add(ANYTHING));
      status.put("incomplete", false);
    } else {
      status.putObject("userInfo").put("username", "system:anonymous").putArray("groups")
          .add("system:unauthenticated");
    }
    return review;
  }

  private Mono<ObjectNode> metrics(ResourcePath path) {
    var pod = store.find(BuiltInKinds.POD, path.namespace(), path.name());
    return pod == null
        ? Mono.error(StatusException.notFound(POD_METRICS, path.name()))
        : measured(List.of(pod)).map(all -> all.stream().findFirst()
            .orElseThrow(() -> StatusException.notFound(POD_METRICS, path.name())));
  }

  private Mono<ObjectNode> metrics(ResourcePath path, QueryParameters query) {
    var labels = LabelSelector.parse(query.text("labelSelector"));
    var pods = store.list(BuiltInKinds.POD, pod -> (path.namespace().isEmpty()
        || path.namespace().equals(ObjectMeta.namespace(pod)))
        && labels.matches(ObjectMeta.labels(pod)));
    return measured(pods).map(all -> {
      var list = Json.object().put("kind", "PodMetricsList").put("apiVersion",
          POD_METRICS.apiVersion());
      list.putObject("metadata");
      list.putArray("items").addAll(all);
      return list;
    });
  }

  /** Measures the pods that run both now and after the window. */
  private Mono<List<ObjectNode>> measured(List<ObjectNode> pods) {
    var first = uses(pods);
    var begun = store.now();
    return Mono.delay(WINDOW).map(_ -> {
      var window = Duration.between(begun, store.now());
      var second = uses(pods);
      return pods.stream().filter(pod -> first.containsKey(pod) && second.containsKey(pod))
          .map(pod -> measured(pod, Objects.requireNonNull(first.get(pod)),
              Objects.requireNonNull(second.get(pod)), window))
          .toList();
    });
  }

  private ObjectNode measured(ObjectNode pod, Use before, Use after, Duration window) {
    var metrics = Json.object().put("kind", POD_METRICS.kind()).put("apiVersion",
        POD_METRICS.apiVersion());
    var metadata = metrics.putObject("metadata").put("name", ObjectMeta.name(pod)).put("namespace",
        ObjectMeta.namespace(pod)).put("creationTimestamp", now());
    metadata.set("labels", pod.path("metadata").path("labels"));
    metrics.put("timestamp", now()).put("window", WINDOW.toSeconds() + "s");
    long nanocores = Math.max(0, after.cpu().minus(before.cpu()).toNanos()) * 1000
        / Math.max(1, window.toMillis());
    metrics.putArray("containers").addObject()
        .put("name", pod.at("/spec/containers/0/name").asString("")).putObject("usage")
        .put("cpu", nanocores + "n").put("memory", after.memoryBytes() / 1024 + "Ki");
    return metrics;
  }

  private String now() {
    return store.now().truncatedTo(SECONDS).toString();
  }

  private Map<ObjectNode, Use> uses(List<ObjectNode> pods) {
    var uses = new HashMap<ObjectNode, Use>();
    for (var pod : pods) {
      var running = store.podProcesses().find(ObjectMeta.namespace(pod), ObjectMeta.name(pod));
      if (running != null) {
        use(running).ifPresent(use -> uses.put(pod, use));
      }
    }
    return uses;
  }

  /** The usage of a process and its children. */
  private static Optional<Use> use(Running running) {
    return ProcessHandle.of(running.pid().getAsLong())
        .map(process -> Stream.concat(Stream.of(process), process.descendants())
            .map(one -> new Use(one.info().totalCpuDuration().orElse(Duration.ZERO),
                residentBytes(one.pid())))
            .reduce(new Use(Duration.ZERO, 0), (one, other) -> new Use(one.cpu().plus(other.cpu()),
                one.memoryBytes() + other.memoryBytes())));
  }

  /** The memory of a process; 0 on systems without {@code /proc}. */
  private static long residentBytes(long pid) {
    try {
      var columns = Files.readString(Path.of("/proc", Long.toString(pid), "statm")).split(" ");
      return Long.parseLong(columns[1]) * PAGE_BYTES;
    } catch (IOException | RuntimeException _) {
      return 0;
    }
  }
}
