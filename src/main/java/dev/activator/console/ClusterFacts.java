package dev.activator.console;

import dev.activator.cluster.Cluster;
import dev.activator.cluster.EventReader;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What a cluster shows of a revision: its settings, its Events, and the command for its log. */
public final class ClusterFacts implements PlatformFacts {
  private static final String SERVICE = "serving.knative.dev/service";
  private static final String MAX_SCALE = "autoscaling.knative.dev/max-scale";
  private static final String THE_REVISION = "the Revision";
  /** In this order; where the default comes from. */
  private static final List<String> OURS = List.of("activator.dev/queue-timeout",
      "activator.dev/balancing", "activator.dev/slow-start", "activator.dev/server-timing");
  private static final List<String> SCALING = List.of("autoscaling.knative.dev/min-scale",
      MAX_SCALE, "autoscaling.knative.dev/target", "autoscaling.knative.dev/metric",
      "autoscaling.knative.dev/window");

  private final Cluster cluster;
  private final String domain;
  private final int queueCapacity;
  private final String waitingPage;
  private final EventReader events;
  private final ScalingFacts scaling;

  /** @param queueCapacity of a revision that sets none, like {@code waitingPage} */
  public ClusterFacts(Cluster cluster, String domain, int queueCapacity, String waitingPage,
      EventReader events, ScalingFacts scaling) {
    this.cluster = cluster;
    this.domain = domain;
    this.queueCapacity = queueCapacity;
    this.waitingPage = waitingPage;
    this.events = events;
    this.scaling = scaling;
  }

  private @Nullable ScaledServiceFacts scaledService(RevisionId id) {
    var state = cluster.scaledService(id);
    return state == null ? null : new ScaledServiceFacts(state);
  }

  @Override
  public CardFacts card(RevisionId id) {
    var scaled = scaledService(id);
    if (scaled != null) {
      return new CardFacts("ScaledService", scaled.obstacles(scaling.views().apply(id)),
          scaled.url(), scaled.maxPods());
    }
    var revision = cluster.find(id);
    var service = revision == null ? null : revision.labels().get(SERVICE);
    var maxScale = revision == null ? "" : revision.annotations().getOrDefault(MAX_SCALE, "");
    return new CardFacts("Revision", List.of(),
        service == null
            ? null
            : "http://" + service + "." + id.namespace() + ".svc." + domain,
        maxScale.matches("[1-9]\\d{0,8}") ? Integer.valueOf(maxScale) : null);
  }

  @Override
  public List<Setting> settings(RevisionId id) {
    var scaled = scaledService(id);
    var rows = new ArrayList<Setting>();
    rows.addAll(scaling.rows(id, scaled));
    var revision = cluster.find(id);
    if (scaled != null) {
      rows.addAll(scaled.settings());
    } else if (revision != null) {
      rows.addAll(ofRevision(revision));
    }
    if (revision != null) {
      rows.addAll(annotations(revision.annotations()));
      if (scaled == null) {
        SCALING.forEach(name -> rows
            .add(setting(revision.annotations(), name, "not set", "the autoscaler")));
      }
    }
    return rows;
  }

  private static List<Setting> ofRevision(Revision revision) {
    int limit = revision.containerConcurrency();
    return List.of(
        new Setting("container concurrency", limit == 0 ? "any number" : "" + limit, THE_REVISION),
        new Setting("timeout", revision.timeouts().overall().toSeconds() + " s", THE_REVISION),
        new Setting("pods are probed as",
            revision.readinessProbe() == null ? "queue-proxy" : "a container", THE_REVISION));
  }

  private List<Setting> annotations(Map<String, String> own) {
    var rows = new ArrayList<Setting>();
    rows.add(setting(own, "activator.dev/queue-capacity", "" + queueCapacity,
        "activator.serving.queue-capacity"));
    rows.add(setting(own, "activator.dev/waiting-page",
        waitingPage,
        "activator.serving.waiting-page"));
    OURS.forEach(name -> rows.add(setting(own, name, "not set", "default")));
    return rows;
  }

  private static Setting setting(Map<String, String> annotations, String name, String otherwise,
      String origin) {
    var own = annotations.get(name);
    var word = name.substring(name.indexOf('/') + 1);
    return own == null
        ? new Setting(word, otherwise, origin)
        : new Setting(word, own, "the annotation " + name);
  }

  @Override
  public CompletableFuture<Known<EventLine>> events(RevisionId id) {
    var scaled = scaledService(id);
    var workload = scaled == null ? id.name() + "-deployment" : scaled.workload().name();
    return events
        .read(new EventReader.Objects(id.namespace(),
            Set.copyOf(List.of(id.name(), workload)), workload))
        .thenApply(answer -> switch (answer) {
          case EventReader.Answer.Read(var all) -> new Known<>(
              all.stream().map(ClusterFacts::line).toList(), "");
          case EventReader.Answer.Forbidden() -> new Known<>(List.of(),
              "This activator may not list Events (the chart's rbac.events): " + command(id));
          case EventReader.Answer.Failed(var why) -> new Known<>(List.of(),
              "They cannot be read now (" + why + "): " + command(id));
        });
  }

  public static EventLine line(EventReader.Event event) {
    return new EventLine(event.when(), event.type(), event.reason(),
        event.kind() + " " + event.name(), event.message());
  }

  private static String command(RevisionId id) {
    return "kubectl get events -n " + id.namespace();
  }

  @Override
  public Known<String> log(RevisionId id) {
    var scaled = scaledService(id);
    return new Known<>(List.of(), scaled == null
        ? "kubectl logs -n " + id.namespace() + " -l serving.knative.dev/revision=" + id.name()
            + " -c user-container"
        : scaled.logCommand());
  }
}
