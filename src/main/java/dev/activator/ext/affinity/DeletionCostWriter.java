package dev.activator.ext.affinity;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.activator.ext.affinity.policy.DeletionCosts;
import dev.activator.ext.affinity.policy.DeletionCosts.Change;
import dev.activator.ext.affinity.policy.DeletionCosts.Pod;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.revision.RevisionId;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes to pods how many keys they have issued, as their deletion cost, before some pods of a
 * workload are removed. A pod is written only if its number has changed.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Errors.</b> Each is logged when it begins, and once an hour: pods are then removed in another
 * order.
 */
final class DeletionCostWriter {
  private static final Logger log = LoggerFactory.getLogger(DeletionCostWriter.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  /** The limit of writes before one removal of pods. */
  private static final int MAX_WRITES = 100;
  /** What was written shortly before is not written again. */
  private static final Duration MIN_PERIOD = Duration.ofSeconds(10);
  /** After this time a problem that goes on is logged again. */
  private static final Duration TROUBLE_PERIOD = Duration.ofHours(1);
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final JsonMapper JSON = new JsonMapper();

  private record Trouble(RevisionId workload, String problem) {}

  private final Supplier<@Nullable KubernetesSession> session;
  private final Function<RevisionId, String> selectors;
  private final Cache<RevisionId, Boolean> recent;
  /** What was logged. Problems may alternate. */
  private final Cache<Trouble, Boolean> troubles;

  /**
   * @param session returns the connection to the API; null before it is open
   * @param selectors return the label selector of a workload's pods; called on the session's loop
   */
  DeletionCostWriter(Supplier<@Nullable KubernetesSession> session,
      Function<RevisionId, String> selectors, Ticker clock) {
    this.session = session;
    this.selectors = selectors;
    this.troubles = Caffeine.newBuilder().expireAfterWrite(TROUBLE_PERIOD).ticker(clock)
        .executor(Runnable::run).build();
    this.recent = Caffeine.newBuilder().expireAfterWrite(MIN_PERIOD).ticker(clock)
        .executor(Runnable::run).build();
  }

  /**
   * Writes the costs of a workload's pods, unless that was done shortly before. The result never
   * fails.
   *
   * @param keys returns the number of keys by the address of the pod that issued them
   */
  CompletableFuture<Void> write(RevisionId workload, Supplier<Map<String, Integer>> keys) {
    var now = session.get();
    if (now == null || recent.asMap().putIfAbsent(workload, true) != null) {
      return CompletableFuture.completedFuture(null);
    }
    var folder = "api/v1/namespaces/" + workload.namespace() + "/pods";
    return CompletableFuture.supplyAsync(() -> selectors.apply(workload), now.loop())
        .thenCompose(selector -> now.api().fetch(folder + "?labelSelector="
            + URLEncoder.encode(selector, StandardCharsets.UTF_8), TIMEOUT))
        .thenCompose(list -> list.status() == OK
            ? all(DeletionCosts.changes(pods(list.body()), keys.get(), MAX_WRITES).stream()
                .map(change -> patch(now, folder, change)))
            : CompletableFuture.completedFuture(refusal("listed", list)))
        .exceptionally(failure -> "no answer from the Kubernetes API")
        .thenAccept(problem -> ended(workload, problem));
  }

  private static CompletableFuture<String> patch(KubernetesSession session, String folder,
      Change change) {
    var patch = JSON.createObjectNode();
    patch.putObject("metadata").putObject("annotations").put(DeletionCosts.ANNOTATION,
        Integer.toString(change.cost()));
    return session.api().send("PATCH", folder + "/" + change.pod(),
        "application/merge-patch+json", patch.toString(), TIMEOUT)
        .thenApply(answer -> answer.status() / 100 == 2 || answer.status() == NOT_FOUND
            ? ""
            : refusal("patched", answer));
  }

  /** Returns the first problem; empty if there is none. */
  private static CompletableFuture<String> all(Stream<CompletableFuture<String>> writes) {
    return writes.reduce(CompletableFuture.completedFuture(""),
        (one, other) -> one.thenCombine(other, (before, now) -> before.isEmpty() ? now : before));
  }

  private static String refusal(String what, ApiAnswer answer) {
    return "pods cannot be " + what + ": " + answer.status() + " " + answer.message();
  }

  private static List<Pod> pods(byte[] list) {
    return JSON.readTree(list).path("items").valueStream()
        .filter(pod -> pod.at("/metadata/deletionTimestamp").isMissingNode())
        .map(DeletionCostWriter::pod).toList();
  }

  private static Pod pod(JsonNode pod) {
    return new Pod(pod.at("/metadata/name").asString(""),
        Stream.concat(Stream.of(pod.at("/status/podIP").asString("")),
            pod.at("/status/podIPs").findValuesAsString("ip").stream())
            .filter(address -> !address.isEmpty()).distinct().toList(),
        pod.path("metadata").path("annotations").path(DeletionCosts.ANNOTATION).asString(""));
  }

  private void ended(RevisionId workload, String problem) {
    if (problem.isEmpty()) {
      troubles.asMap().keySet().removeIf(one -> one.workload.equals(workload));
    } else if (troubles.asMap().putIfAbsent(new Trouble(workload, problem), true) == null) {
      log.warn("{}: pods with many affinity keys may be removed first, because {}", workload,
          problem);
    }
  }
}
