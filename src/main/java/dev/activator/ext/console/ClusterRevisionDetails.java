package dev.activator.ext.console;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.platform.RevisionDetailsSource;
import dev.activator.platform.WorkloadDetails;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.ext.console.RevisionWaitReport.RulesReport;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.WakingExplanations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The details of a revision from a cluster: its settings, its Events, and the command for its log.
 */
public final class ClusterRevisionDetails implements RevisionDetailsSource {
  private static final String RULES = "its rules";
  private static final String THE_REVISION = "the Revision";
  /** The activator's settings in the order of the page, with their defaults. */
  private static final List<Setting> OURS = List.of(
      byDefault("activator.dev/balancing", "by container concurrency"),
      byDefault("activator.dev/slow-start", "16"), byDefault("activator.dev/wake-with", "none"),
      byDefault("activator.dev/server-timing", "off"));

  private final ClusterWatcher cluster;
  private final Defaults own;
  private final EventFetcher events;
  private final Function<RevisionId, @Nullable WorkloadDetails> workloads;
  private final ScalingExplanationBuilder scaling;
  private final Supplier<KnativeAutoscalerDefaults> defaults;
  private final WakingExplanations waking;

  /**
   * The activator's settings, which count for revisions that set none.
   *
   * @param domain the DNS domain of the cluster's Services
   */
  public record Defaults(String domain, int queueCapacity, WaitLimits waits, String waitingPage) {}

  public ClusterRevisionDetails(ClusterWatcher cluster, Defaults own,
      EventFetcher events, Function<RevisionId, @Nullable WorkloadDetails> workloads,
      ScalingExplanationBuilder scaling, Supplier<KnativeAutoscalerDefaults> defaults,
      WakingExplanations waking) {
    this.waking = waking;
    this.cluster = cluster;
    this.own = own;
    this.events = events;
    this.workloads = workloads;
    this.scaling = scaling;
    this.defaults = defaults;
  }

  @Override
  public CardDetails card(RevisionId id) {
    var scaled = workloads.apply(id);
    if (scaled != null) {
      return new CardDetails(scaled.kind(), scaled.obstacles(scaling.views().apply(id)),
          scaled.url(), scaled.maxPods(), null, scaled.takesRequests());
    }
    var revision = cluster.live().spec(id);
    var service = revision == null ? null : revision.labels().get(KnownLabels.SERVICE);
    var rules = revision == null ? null : revision.rules();
    return new CardDetails("Revision", rules == null ? List.of() : rules.problems(),
        service == null
            ? null
            : "http://" + service + "." + id.namespace() + ".svc." + own.domain,
        revision == null ? null : defaults.get().maxPods(revision.annotations()),
        revision == null ? null : routing(revision.labels()), true);
  }

  static @Nullable Routing routing(Map<String, String> labels) {
    var service = labels.get(KnownLabels.SERVICE);
    if (service == null) {
      return null;
    }
    return switch (labels.getOrDefault(KnownLabels.ROUTING_STATE, "")) {
      case "active" -> new Routing(service, RoutingState.LIVE);
      case "pending" -> new Routing(service, RoutingState.NEXT);
      case "reserve" -> new Routing(service, RoutingState.SUPERSEDED);
      default -> null;
    };
  }

  @Override
  public CompletableFuture<List<Setting>> settings(RevisionId id) {
    var wakes = waking.of(id);
    return CompletableFuture
        .completedFuture(settings(id, wakes == null ? List.of() : waking(wakes)));
  }

  private static List<Setting> waking(WakingExplanations.Waking wakes) {
    var rows = new ArrayList<Setting>();
    if (!wakes.wakes().isEmpty()) {
      rows.add(new Setting("starts with it", String.join(", ", wakes.wakes()), "wake-with"));
    }
    if (wakes.wokenBecause() != null) {
      rows.add(new Setting("last woken because", wakes.wokenBecause(),
          "a start ahead of its requests"));
    }
    return rows;
  }

  private List<Setting> settings(RevisionId id, List<Setting> wakes) {
    var scaled = workloads.apply(id);
    var rows = new ArrayList<Setting>();
    rows.addAll(scaling.rows(id, scaled));
    var revision = cluster.live().spec(id);
    if (scaled != null) {
      rows.addAll(scaled.settings());
    } else if (revision != null) {
      rows.addAll(ofRevision(revision));
    }
    if (revision != null) {
      rows.addAll(rules(revision));
      rows.addAll(wakes);
      rows.addAll(annotations(revision.annotations()));
      if (scaled == null) {
        rows.addAll(
            defaults.get().rows(revision.annotations(), revision.containerConcurrency()));
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
            revision.hasQueueProxy() ? "queue-proxy" : "a container", THE_REVISION));
  }

  private List<Setting> rules(Revision revision) {
    var rules = revision.rules();
    var rows = new ArrayList<Setting>();
    if (rules != null) {
      rules.doNotWake()
          .forEach(rule -> rows.add(new Setting("wakes no pod", rule.toString(), RULES)));
      if (rules.fallback() != null) {
        rows.add(new Setting("while it starts", "a request "
            + RulesReport.text(rules.fallback(), revision.id().namespace(), cluster::named),
            RULES));
      }
      if (rules.ignoreIdleAfter() != null) {
        rows.add(new Setting("silent connections",
            "do not count after " + rules.ignoreIdleAfter().toSeconds() + " s", RULES));
      }
      rules.problems().forEach(problem -> rows.add(new Setting("ignored", problem, RULES)));
    }
    return rows;
  }

  private List<Setting> annotations(Map<String, String> annotations) {
    var rows = new ArrayList<Setting>();
    rows.add(setting(annotations, "activator.dev/queue-capacity", "" + own.queueCapacity(),
        "activator.serving.queue-capacity"));
    rows.add(setting(annotations, "activator.dev/waiting-page", own.waitingPage(),
        "activator.serving.waiting-page"));
    rows.add(setting(annotations, "activator.dev/queue-timeout",
        limit(own.waits().full(), "none"), "activator.serving.queue-timeout"));
    rows.add(setting(annotations, "activator.dev/start-timeout",
        limit(own.waits().start(), "as queue-timeout"), "activator.serving.start-timeout"));
    OURS.forEach(one -> rows.add(setting(annotations, one.name(), one.value(), one.origin())));
    return rows;
  }

  private static String limit(Duration limit, String otherwise) {
    return limit.isZero() ? otherwise : limit.toSeconds() + " s";
  }

  private static Setting byDefault(String annotation, String value) {
    return new Setting(annotation, value, "default");
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
    var scaled = workloads.apply(id);
    var workload = scaled == null ? id.name() + "-deployment" : scaled.workload().name();
    return events
        .read(new EventFetcher.Objects(id.namespace(),
            Set.copyOf(List.of(id.withoutPort().name(), workload)), workload))
        .thenApply(answer -> switch (answer) {
          case EventFetcher.Answer.Read(var all) -> new Known<>(all, "");
          case EventFetcher.Answer.Forbidden() -> new Known<>(List.of(),
              "This activator may not list Events (the chart's rbac.events): " + command(id));
          case EventFetcher.Answer.Failed(var why) -> new Known<>(List.of(),
              "They cannot be read now (" + why + "): " + command(id));
        });
  }
  private static String command(RevisionId id) {
    return "kubectl get events -n " + id.namespace();
  }

  @Override
  public Known<String> log(RevisionId id) {
    var scaled = workloads.apply(id);
    return new Known<>(List.of(), scaled == null
        ? "kubectl logs -n " + id.namespace() + " -l serving.knative.dev/revision=" + id.name()
            + " -c user-container"
        : scaled.logCommand());
  }
}
