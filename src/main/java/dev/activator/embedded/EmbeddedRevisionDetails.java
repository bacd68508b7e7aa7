package dev.activator.embedded;

import dev.activator.platform.RevisionDetailsSource;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.ConditionManager;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;
import tools.jackson.databind.node.MissingNode;

/**
 * The details of a revision that the console shows in embedded mode: also Events, output, and a URL
 * for this machine.
 */
final class EmbeddedRevisionDetails implements RevisionDetailsSource {
  private static final int MAX_EVENTS = 20;
  private static final int MAX_LINES = 60;

  private final RevisionDetailsSource cluster;
  private final ApiStore store;
  private final EmbeddedConsoleActions actions;
  private final IntSupplier requestPort;

  EmbeddedRevisionDetails(RevisionDetailsSource cluster, ApiStore store,
      EmbeddedConsoleActions actions, IntSupplier requestPort) {
    this.cluster = cluster;
    this.store = store;
    this.actions = actions;
    this.requestPort = requestPort;
  }

  private String service(RevisionId id) {
    var revision = store.find(BuiltInKinds.REVISION, id.namespace(), id.name());
    return revision == null
        ? ""
        : ObjectMeta.labels(revision).getOrDefault(KnownLabels.SERVICE, "");
  }

  @Override
  public CardDetails card(RevisionId id) {
    var card = cluster.card(id);
    var service = card.routing() == null ? id.withoutPort().name() : card.routing().service();
    var obstacles = new ArrayList<>(card.obstacles());
    if (card.routing() == null) {
      // Only for a ScaledService: the status of a Revision reports this itself.
      obstacles.addAll(overdue(id));
    }
    return new CardDetails(card.kind(), obstacles,
        card.takesRequests()
            ? "http://" + service + "." + id.namespace() + ".localhost:" + requestPort.getAsInt()
                + "/"
            : null,
        card.maxPods(), card.routing(), card.takesRequests());
  }

  private List<String> overdue(RevisionId id) {
    var deployment = actions.deployment(id);
    var progressing = deployment == null
        ? MissingNode.getInstance()
        : ConditionManager.find(deployment, "Progressing");
    return progressing.path("status").asString("").equals("False")
        ? List.of(progressing.path("message").asString(""))
        : List.of();
  }

  @Override
  public CompletableFuture<List<Setting>> settings(RevisionId id) {
    return cluster.settings(id);
  }

  @Override
  public CompletableFuture<Known<EventLine>> events(RevisionId id) {
    var service = service(id);
    var own = id.withoutPort().name();
    return CompletableFuture.completedFuture(new Known<>(store.list(BuiltInKinds.EVENT, event -> {
      var about = event.at("/involvedObject/name").asString("");
      return ObjectMeta.namespace(event).equals(id.namespace()) && (about.equals(service)
          || about.equals(own) || about.startsWith(own + "-"));
    }).stream().map(EventLine::of)
        .sorted(Comparator.comparing(EventLine::when).reversed())
        .limit(MAX_EVENTS).toList(), ""));
  }

  @Override
  public Known<String> log(RevisionId id) {
    return new Known<>(store.podLogs().last(id.namespace(),
        actions.pods(id).stream().map(ObjectMeta::name).toList(), MAX_LINES),
        "Nothing: no pod has printed anything. kubectl logs has the output of one that is gone, for a minute.");
  }
}
