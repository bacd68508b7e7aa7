package dev.activator.app;

import dev.activator.app.properties.ServingProperties;
import dev.activator.cluster.Cluster;
import dev.activator.console.RevisionFacts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the activator itself knows of a revision's settings. */
final class ClusterFacts implements RevisionFacts {
  private static final String SERVICE = "serving.knative.dev/service";
  private static final String MAX_SCALE = "autoscaling.knative.dev/max-scale";
  /** In this order; where the default comes from. */
  private static final List<String> OURS = List.of("activator.dev/queue-timeout",
      "activator.dev/balancing", "activator.dev/slow-start", "activator.dev/server-timing");
  private static final List<String> SCALING = List.of("autoscaling.knative.dev/min-scale",
      MAX_SCALE, "autoscaling.knative.dev/target", "autoscaling.knative.dev/metric",
      "autoscaling.knative.dev/window");

  private final Cluster cluster;
  private final String domain;
  private final ServingProperties serving;

  ClusterFacts(Cluster cluster, String domain, ServingProperties serving) {
    this.cluster = cluster;
    this.domain = domain;
    this.serving = serving;
  }

  @Nullable String service(RevisionId id) {
    var revision = cluster.find(id);
    return revision == null ? null : revision.labels().get(SERVICE);
  }

  @Override
  public @Nullable String url(RevisionId id) {
    var service = service(id);
    return service == null ? null : "http://" + service + "." + id.namespace() + ".svc." + domain;
  }

  @Override
  public @Nullable Integer maxPods(RevisionId id) {
    var revision = cluster.find(id);
    var text = revision == null ? null : revision.annotations().get(MAX_SCALE);
    return text != null && text.matches("[1-9]\\d{0,8}") ? Integer.valueOf(text) : null;
  }

  @Override
  public List<Setting> settings(RevisionId id) {
    var revision = cluster.find(id);
    return revision == null ? List.of() : settings(revision);
  }

  private List<Setting> settings(Revision revision) {
    var rows = new ArrayList<Setting>();
    int limit = revision.containerConcurrency();
    rows.add(new Setting("container concurrency", limit == 0 ? "any number" : "" + limit,
        "the Revision"));
    rows.add(new Setting("timeout", revision.timeouts().overall().toSeconds() + " s",
        "the Revision"));
    rows.add(new Setting("pods are probed as",
        revision.readinessProbe() == null ? "queue-proxy" : "a container", "the Revision"));
    var annotations = revision.annotations();
    rows.add(setting(annotations, "activator.dev/queue-capacity", "" + serving.queueCapacity(),
        "activator.serving.queue-capacity"));
    rows.add(setting(annotations, "activator.dev/waiting-page",
        serving.waitingPage().toString().toLowerCase(java.util.Locale.ROOT),
        "activator.serving.waiting-page"));
    OURS.forEach(name -> rows.add(setting(annotations, name, "not set", "default")));
    SCALING.forEach(name -> rows.add(setting(annotations, name, "not set", "the autoscaler")));
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
  public Known<EventLine> events(RevisionId id) {
    return new Known<>(List.of(), "The activator does not read Events: kubectl get events -n "
        + id.namespace());
  }

  @Override
  public Known<String> log(RevisionId id) {
    return new Known<>(List.of(), "kubectl logs -n " + id.namespace()
        + " -l serving.knative.dev/revision=" + id.name() + " -c user-container");
  }

  @Override
  public @Nullable Actions actions() {
    return null;
  }
}
