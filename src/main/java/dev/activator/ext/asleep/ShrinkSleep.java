package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.ContainerResources;
import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.ResizeProgress;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.StatusField.Stored;
import dev.activator.platform.StatusField;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Shrinks pods in place by their subresource {@code resize}, and gives them back what they had. That is
 * stored before in the status of the ScaledService, for the leader that wakes them. There is one for
 * each workload.
 *
 * <p><b>Source.</b> KEP-1287, In-place Update of Pod Resources.
 */
final class ShrinkSleep implements PodSleep {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final Duration POLL = Duration.ofMillis(50);
  /** How long a pod stays as it is that its node has not shrunk: requests waited for each attempt. */
  private static final Duration PAUSE = Duration.ofHours(1);
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;

  private final IdleMethod.Environment environment;
  private final StatusField<List<ShrunkPod>> states;
  /** What this process has stored last; empty if it has woken the pods since. */
  private volatile List<ShrunkPod> shrunk = List.of();
  /** By the uid of the pod. */
  private final Map<String, Failure> failures = new ConcurrentHashMap<>();

  /** What a node has not done in time, and until when it is not tried again. */
  private record Failure(List<ContainerResources> wanted, String problem, long until) {}

  /**
   * What a pod had before it was shrunk: an entry of {@code status.shrunk} of its ScaledService.
   *
   * @param containers their resources, with which it is woken
   */
  record ShrunkPod(String name, String uid, List<ContainerResources> containers) {
    ShrunkPod {
      containers = List.copyOf(containers);
    }

    static @Nullable List<ShrunkPod> parse(JsonNode field) {
      return field.isEmpty()
          ? null
          : field.valueStream().map(pod -> new ShrunkPod(pod.path("name").asString(""),
              pod.path("uid").asString(""),
              pod.path("containers").valueStream()
                  .map(one -> new ContainerResources(one.path("name").asString(""),
                      texts(one.path("requests")), texts(one.path("limits"))))
                  .toList()))
              .toList();
    }

    private static Map<String, String> texts(JsonNode object) {
      return object.propertyStream().collect(Collectors.toMap(Map.Entry::getKey,
          one -> one.getValue().asString("")));
    }

    static JsonNode format(List<ShrunkPod> pods) {
      return JSON.valueToTree(pods);
    }
  }

  /** A pod as the API has it. */
  private record Pod(String namespace, String name, String uid, JsonNode object) {
    static Pod of(JsonNode object) {
      return new Pod(object.at("/metadata/namespace").asString(""),
          object.at("/metadata/name").asString(""), object.at("/metadata/uid").asString(""),
          object);
    }

    static String path(String namespace, String name) {
      return "api/v1/namespaces/" + namespace + "/pods/" + name;
    }

    String path() {
      return path(namespace, name);
    }

    /** Its containers, and its native sidecars. */
    List<Map<?, ?>> containers() {
      return Stream.concat(object.at("/spec/containers").valueStream(), sidecars())
          .<Map<?, ?>>map(one -> JSON.treeToValue(one, Map.class)).toList();
    }

    private Stream<JsonNode> sidecars() {
      return object.at("/spec/initContainers").valueStream()
          .filter(one -> one.path("restartPolicy").asString("").equals("Always"));
    }

    boolean isSidecar(String container) {
      return sidecars().anyMatch(one -> one.path("name").asString().equals(container));
    }

    ShrunkPod now() {
      return new ShrunkPod(name, uid, containers().stream().map(ContainerResources::of).toList());
    }

    /** Whether it is not shrunk, such as where the API has refused that. */
    boolean has(ShrunkPod wanted) {
      return now().equals(wanted) && ResizeProgress.of(JSON.treeToValue(object, Map.class),
          wanted.containers()) instanceof ResizeProgress.Done;
    }
  }

  ShrinkSleep(IdleMethod.Environment environment) {
    this.environment = environment;
    this.states = StatusField.of(environment::api, "shrunk", ShrunkPod::parse, ShrunkPod::format);
  }

  @Override
  public CompletableFuture<String> sleep(RevisionId id, List<Destination> pods,
      IdleTarget target) {
    return withPods(id, pods, found -> states.get(id).thenCompose(stored -> {
      if (stored.refusal() != null) {
        return done(stored.refusal().message());
      }
      if (found.isEmpty() && !pods.isEmpty()) {
        return done("none of its pods runs");
      }
      return others(id, stored.value(), found).thenComposeAsync(others -> {
        if (found.isEmpty()) {
          shrunk = others;
          return done("");
        }
        var before = new ArrayList<>(others);
        for (var pod : found) {
          // One that another leader has shrunk keeps what it had before that.
          before.add(of(pod, stored.value()) instanceof ShrunkPod known ? known : pod.now());
        }
        return shrink(id, stored, found, before, target);
      }, environment.loop());
    }));
  }

  /** What is stored of other pods that still exist: those that are not ready while they are shrunk. */
  private CompletableFuture<List<ShrunkPod>> others(RevisionId id, @Nullable List<ShrunkPod> stored,
      List<Pod> found) {
    var others = (stored == null ? List.<ShrunkPod>of() : stored).stream()
        .filter(one -> found.stream().noneMatch(pod -> pod.uid.equals(one.uid()))).toList();
    var gone = ConcurrentHashMap.<ShrunkPod>newKeySet();
    return PodSleep.withAll(others, one -> answered(environment.api()
        .fetch(Pod.path(id.namespace(), one.name()), TIMEOUT)).thenApply(answer -> {
          if (answer.status() == NOT_FOUND || answer.status() == OK
              && !Pod.of(JSON.readTree(answer.body())).uid.equals(one.uid())) {
            gone.add(one);
          }
          return "";
        })).thenApply(_ -> others.stream().filter(one -> !gone.contains(one)).toList());
  }

  /** @param before what the pods and others had before they were shrunk */
  private CompletableFuture<String> shrink(RevisionId id, Stored<List<ShrunkPod>> stored,
      List<Pod> pods, List<ShrunkPod> before, IdleTarget target) {
    failures.keySet().retainAll(before.stream().map(ShrunkPod::uid).toList());
    for (var pod : pods) {
      var problem = obstacle(pod, Objects.requireNonNull(of(pod, before)), target);
      if (!problem.isEmpty()) {
        return done(problem);
      }
    }
    return states.replace(id, stored, before).thenComposeAsync(kept -> {
      if (kept.refusal() != null) {
        return done(kept.refusal().message());
      }
      if (!environment.leadership().mayWrite()) {
        return done("this activator does not lead any more");
      }
      shrunk = List.copyOf(before);
      return PodSleep.withAll(pods,
          pod -> resize(pod, shrunk(Objects.requireNonNull(of(pod, before)), target),
              target.shrink().shrinkTimeout()));
    }, environment.loop());
  }

  private static List<ContainerResources> shrunk(ShrunkPod before, IdleTarget target) {
    return before.containers().stream().map(one -> one.shrunk(target.shrink())).toList();
  }

  /** Why a pod cannot be shrunk; empty if it may be tried. */
  private String obstacle(Pod pod, ShrunkPod before, IdleTarget target) {
    var wanted = shrunk(before, target);
    if (wanted.equals(before.containers())) {
      return "pod " + pod.name + " has no request or limit above those of spec.idle.shrink";
    }
    var last = failures.computeIfPresent(pod.uid, (_, one) -> one.wanted.equals(wanted)
        && one.until - environment.loop().nanoTime() > 0 ? one : null);
    if (last != null) {
      return last.problem;
    }
    for (var container : pod.containers()) {
      var restarted = ContainerResources.restartedBy(container);
      if (Stream.of(target.shrink().requests(), target.shrink().limits())
          .anyMatch(set -> restarted.stream().anyMatch(set::containsKey))) {
        return "a change of " + String.join(" and ", restarted) + " would restart container "
            + container.get("name") + " of pod " + pod.name + " (resizePolicy)";
      }
    }
    return "";
  }

  @Override
  public CompletableFuture<String> wake(RevisionId id, List<Destination> pods, IdleTarget target) {
    return states.get(id).thenCompose(stored -> {
      // A ScaledService that was deleted has no status any more.
      var before = stored.value() == null ? shrunk : stored.value();
      if (before.isEmpty()) {
        return done(stored.refusal() == null ? "" : stored.refusal().message());
      }
      return withPods(id, pods, found -> PodSleep.withAll(found, pod -> {
        var known = of(pod, before);
        return known == null || pod.has(known)
            ? done("")
            : resize(pod, known.containers(), target.shrink().timeout());
      })).thenCompose(problem -> {
        if (!problem.isEmpty()) {
          return done(problem);
        }
        shrunk = List.of();
        return stored.value() == null
            ? done("")
            : states.replace(id, stored, null).thenApply(now -> now.refusal() == null
                ? ""
                : now.refusal().message());
      });
    });
  }

  private static @Nullable ShrunkPod of(Pod pod,
      @Nullable List<ShrunkPod> all) {
    return all == null
        ? null
        : all.stream().filter(one -> one.uid().equals(pod.uid)).findFirst().orElse(null);
  }

  /** Finds pods by their addresses, and goes on with those that still run. */
  private CompletableFuture<String> withPods(RevisionId id, List<Destination> pods,
      Function<List<Pod>, CompletableFuture<String>> then) {
    var found = new ArrayList<Pod>();
    var path = "api/v1/namespaces/" + id.namespace() + "/pods";
    return PodSleep.withAll(pods, pod -> answered(environment.api().fetch(path
        + "?fieldSelector=status.podIP%3D" + URLEncoder.encode(pod.host(), StandardCharsets.UTF_8),
        TIMEOUT)).thenCompose(answer -> {
          // The selector knows only the first address of a pod that has one of each family.
          boolean isSecond = answer.status() == OK && items(answer).findAny().isEmpty();
          return isSecond ? answered(environment.api().fetch(path, TIMEOUT)) : done(answer);
        }).thenApply(answer -> {
          if (answer.status() != OK) {
            return "pods cannot be listed: " + refusal(answer);
          }
          var live = items(answer).filter(one -> one.at("/metadata/deletionTimestamp")
              .isMissingNode() && one.at("/status/phase").asString("").equals("Running")
              && hasAddress(one, pod.host())).map(Pod::of).toList();
          if (live.size() > 1) {
            return "several pods have the address " + pod.host();
          }
          synchronized (found) {
            found.addAll(live);
          }
          return "";
        })).thenCompose(problem -> problem.isEmpty() ? then.apply(found) : done(problem));
  }

  private static Stream<JsonNode> items(ApiAnswer answer) {
    return JSON.readTree(answer.body()).path("items").valueStream();
  }

  private static boolean hasAddress(JsonNode pod, String host) {
    return Stream.concat(Stream.of(pod.at("/status/podIP")),
        pod.at("/status/podIPs").valueStream().map(one -> one.path("ip")))
        .anyMatch(ip -> ip.asString("").equals(host));
  }

  /** An answer of status 0 if there is none. */
  private static CompletableFuture<ApiAnswer> answered(CompletableFuture<ApiAnswer> request) {
    return request.exceptionally(_ -> new ApiAnswer(0, Duration.ZERO, new byte[0]));
  }

  private static String refusal(ApiAnswer answer) {
    var message = answer.message();
    return answer.status() == 0
        ? "no answer from the Kubernetes API"
        : answer.status() + " " + message
            + (message.contains(" cannot ")
                ? "; the chart's standalone.shrinkPods permits it"
                : "");
  }

  /** Sets resources, and waits until they are in force. */
  private CompletableFuture<String> resize(Pod pod, List<ContainerResources> wanted,
      Duration timeout) {
    long deadline = environment.loop().nanoTime() + timeout.toNanos();
    var patch = JSON.createObjectNode();
    // One that has replaced it has the same name, if it is of a StatefulSet.
    patch.putObject("metadata").put("uid", pod.uid);
    var spec = patch.putObject("spec");
    wanted.forEach(one -> {
      var container = spec.withArray(pod.isSidecar(one.name()) ? "initContainers" : "containers")
          .addObject().put("name", one.name());
      var resources = container.putObject("resources");
      one.requests().forEach(resources.withObject("/requests")::put);
      one.limits().forEach(resources.withObject("/limits")::put);
    });
    return answered(environment.api().send("PATCH", pod.path() + "/resize",
        "application/strategic-merge-patch+json", patch.toString(), TIMEOUT))
        .thenCompose(answer -> answer.status() == OK
            ? await(pod, wanted, deadline)
            : done("pod " + pod.name + " cannot be resized: " + refusal(answer)));
  }

  private CompletableFuture<String> await(Pod pod, List<ContainerResources> wanted,
      long deadline) {
    return answered(environment.api().fetch(pod.path(), TIMEOUT)).thenCompose(answer -> {
      if (answer.status() != OK) {
        return done("pod " + pod.name + " cannot be read: " + refusal(answer));
      }
      var now = JSON.readTree(answer.body());
      if (!now.at("/metadata/uid").asString("").equals(pod.uid)) {
        return done("pod " + pod.name + " was replaced");
      }
      return switch (ResizeProgress.of(JSON.treeToValue(now, Map.class), wanted)) {
        case ResizeProgress.Done() -> done("");
        case ResizeProgress.Failed(var why) -> failed(pod, wanted, why);
        case ResizeProgress.Waiting(var why) -> environment.loop().nanoTime() - deadline >= 0
            ? failed(pod, wanted, why)
            : PodSleep.pause(environment.loop(), POLL)
                .thenCompose(_ -> await(pod, wanted, deadline));
      };
    });
  }

  private CompletableFuture<String> failed(Pod pod, List<ContainerResources> wanted, String why) {
    var problem = "pod " + pod.name + ": " + why;
    // One that also does not get back what it had is removed.
    failures.putIfAbsent(pod.uid,
        new Failure(wanted, problem, environment.loop().nanoTime() + PAUSE.toNanos()));
    return done(problem);
  }

  private static <T> CompletableFuture<T> done(T value) {
    return CompletableFuture.completedFuture(value);
  }
}
