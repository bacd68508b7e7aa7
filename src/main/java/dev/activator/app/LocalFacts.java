package dev.activator.app;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.cluster.EventReader.Event;
import dev.activator.console.RevisionFacts;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.api.store.OutputLog;
import dev.activator.embedded.runtime.KnativeLabels;
import dev.activator.revision.RevisionId;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.http.client.HttpClient;
import tools.jackson.databind.node.ObjectNode;

/** What the embedded cluster knows of a revision besides. */
final class LocalFacts implements RevisionFacts, RevisionFacts.Actions {
  private static final Logger log = LoggerFactory.getLogger(LocalFacts.class);
  private static final int MOST_EVENTS = 20;
  private static final int MOST_LINES = 60;

  private final RevisionFacts ours;
  private final ApiStore store;
  private final Autoscaler autoscaler;
  private final int maxPods;
  private final IntSupplier requestPort;

  LocalFacts(RevisionFacts ours, ApiStore store, Autoscaler autoscaler, int maxPods,
      IntSupplier requestPort) {
    this.ours = ours;
    this.store = store;
    this.autoscaler = autoscaler;
    this.maxPods = maxPods;
    this.requestPort = requestPort;
  }

  private String service(RevisionId id) {
    var revision = store.find(Kinds.REVISION, id.namespace(), id.name());
    return revision == null
        ? ""
        : Meta.labels(revision).getOrDefault(KnativeLabels.SERVICE, "");
  }

  @Override
  public CardFacts card(RevisionId id) {
    var card = ours.card(id);
    var service = service(id);
    return new CardFacts(card.kind(), card.obstacles(),
        "http://" + (service.isEmpty() ? id.name() : service) + "." + id.namespace()
            + ".localhost:" + requestPort.getAsInt() + "/",
        Objects.requireNonNullElse(card.maxPods(), maxPods));
  }

  @Override
  public List<Setting> settings(RevisionId id) {
    return ours.settings(id);
  }

  @Override
  public CompletableFuture<Known<EventLine>> events(RevisionId id) {
    var service = service(id);
    return CompletableFuture.completedFuture(new Known<>(store.list(Kinds.EVENT, event -> {
      var about = event.at("/involvedObject/name").asString("");
      return Meta.namespace(event).equals(id.namespace()) && (about.equals(service)
          || about.equals(id.name()) || about.startsWith(id.name() + "-"));
    }).stream().map(Event::of).map(ClusterFacts::line)
        .sorted(Comparator.comparing(EventLine::when).reversed())
        .limit(MOST_EVENTS).toList(), ""));
  }

  /** What is scaled for a revision or a ScaledService; null if nothing is. */
  private @Nullable ObjectNode deployment(RevisionId id) {
    var view = autoscaler.view(id);
    return view == null || !view.workload().kind().equals("Deployment")
        ? null
        : store.find(Kinds.DEPLOYMENT, id.namespace(), view.workload().name());
  }

  private List<ObjectNode> pods(RevisionId id) {
    var deployment = deployment(id);
    if (deployment == null) {
      return List.of();
    }
    var selector = deployment.at("/spec/selector/matchLabels").properties();
    return store.list(Kinds.POD, pod -> Meta.namespace(pod).equals(id.namespace())
        && !selector.isEmpty() && selector.stream().allMatch(
            label -> label.getValue().asString("").equals(Meta.labels(pod).get(label.getKey()))));
  }

  @Override
  public Known<String> log(RevisionId id) {
    var lines = pods(id).stream().map(Meta::name)
        .flatMap(pod -> Stream.of(store.podLogs().previous(id.namespace(), pod),
            store.podLogs().current(id.namespace(), pod)))
        .filter(Objects::nonNull).flatMap(output -> output.lines().stream())
        .sorted(Comparator.comparing(OutputLog.Line::time)).map(OutputLog.Line::text).toList();
    return new Known<>(lines.subList(Math.max(0, lines.size() - MOST_LINES), lines.size()),
        "Nothing: output is kept as long as there is the pod.");
  }

  @Override
  public Actions actions() {
    return this;
  }

  @Override
  public void sendRequest(RevisionId id) {
    HttpClient.create().headers(headers -> headers.set(HttpHeaderNames.HOST, "localhost")
        .set("Knative-Serving-Namespace", id.namespace())
        .set("Knative-Serving-Revision", id.name())).get()
        .uri("http://127.0.0.1:" + requestPort.getAsInt() + "/").response()
        .subscribe(answer -> log.info("{}: the console's request was answered with {}", id,
            answer.status().code()),
            failure -> log.info("{}: the console's request failed", id, failure));
  }

  @Override
  public void scaleToZero(RevisionId id) {
    log.info("{}: scaled to zero from the console", id);
    var deployment = deployment(id);
    if (deployment != null) {
      var name = Meta.name(deployment);
      autoscaler.forgetLoad(id)
          .thenRun(() -> store.edit(Kinds.DEPLOYMENT, id.namespace(), name, found -> {
            ((ObjectNode) found.path("spec")).put("replicas", 0);
            return found;
          }));
    }
  }

  @Override
  public void restart(RevisionId id) {
    log.info("{}: restarted from the console", id);
    pods(id).forEach(pod -> store.delete(Kinds.POD, id.namespace(), Meta.name(pod)));
  }
}
