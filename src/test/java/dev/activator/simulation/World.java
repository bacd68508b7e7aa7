package dev.activator.simulation;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.LiveRevisions;
import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.standalone.autoscaler.ReportBatch;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.LeadershipCheck;
import dev.activator.backend.ProbeSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.discovery.SimulatedCluster;
import dev.activator.kube.reflector.SimulatedApi;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An activator, its cluster, its autoscaler and those who ask it, in one virtual time. */
final class World {
  private static final String OWN_IP = "10.9.9.9";
  /** Longer than a turn of a loop takes here. */
  private static final Duration SOON = Duration.ofMillis(1);

  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment",
      "any");

  /** Without a watch of Endpoints, until watchers of pods know. */
  private static final Duration NOTICED = Duration.ofSeconds(3);

  private final VirtualLoop clock = VirtualLoop.nearOverflow();
  private final Random random;
  final Story story = new Story(clock);
  private final SimulatedApi api;
  private final SimulatedPods pods;
  private final Callers callers;
  private final ClusterWatcher cluster;
  private final Throttler throttler;
  private final ConcurrencyReporter reporter;
  private final Map<RevisionId, Deployment> deployments = new TreeMap<>();
  private final Map<RevisionId, HealthyDestinations> healthy = new HashMap<>();
  private final Map<RevisionId, RevisionChecks> checks = new TreeMap<>();
  private boolean linkIsUp = true;
  private boolean trouble;
  /** Null while the API is there. */
  private @Nullable Duration apiAwaySince;

  World(long seed) {
    random = new Random(seed);
    api = new SimulatedApi(clock, random);
    pods = new SimulatedPods(clock, random, new Watch());
    var home = new SimulatedLoop(clock, random);
    var other = new SimulatedLoop(clock, random);
    var live = new LiveRevisions(id -> id.hashCode() % 2 == 0 ? home : other);
    cluster = SimulatedCluster.of(live, random);
    callers = new Callers(clock, random, story, live);
    var backends = Make.backends(live, home, pods,
        new ProbeSettings(() -> MeshAddressing.DEFAULT, Duration.ofMillis(300),
            Duration.ofMillis(200), 500),
        random);
    boolean slowStart = random.nextBoolean();
    throttler = Make.throttler(live, OWN_IP,
        new ThrottlerOptions(50, ThrottlerOptions.NO_BOUND, WaitLimits.NONE, null,
            slowStart ? 16 : 0),
        random);
    var autoscaler = new Autoscaler(new SimulatedLoop(clock, random), new Scales(),
        LeadershipCheck.ALONE, new ScalingListener() {
        }, random);
    join(backends);
    reporter = new ConcurrencyReporter(live, new SimulatedLoop(clock, random),
        Duration.ofSeconds(1),
        new Link(autoscaler));
    callers.loop(home, throttler, pods, reporter);
    callers.loop(other, throttler, pods, reporter);
    for (int i = 0; i <= random.nextInt(3); i++) {
      var id = new RevisionId("ns", "rev-" + i);
      var made = new Deployment(id, i, clock, random, api, pods, story);
      deployments.put(id, made);
      checks.put(id, new RevisionChecks(clock, made, callers, pods, throttler, slowStart));
      pods.clusterIp(id, made.clusterIp());
      made.onChange(() -> tell(autoscaler, made));
      made.create();
    }
    SimulatedCluster.start(cluster, api, new SimulatedLoop(clock, random), random);
    autoscaler.start();
    reporter.start();
  }

  /** As the product's own wiring does. */
  private void join(RevisionBackendsManager backends) {
    cluster.revisions().subscribe("test", now -> story.tell("heard of %s %s", now.id(), now.uid()));
    TestRevisions.onEnd(cluster, id -> story.tell("noticed the end of %s", id));
    cluster.pods().subscribe("test", now -> story.tell("heard of pods %s", now));
    cluster.revisions().subscribe("test", throttler::onRevision);
    cluster.revisions().subscribe("test", backends::revision);
    cluster.pods().subscribe("test", backends::listed);
    cluster.pods().subscribe("test", now -> clock.schedule(SOON,
        () -> checks(now.revision()).listed(now, healthy.get(now.revision()))));
    cluster.podsGone().subscribe("test", last -> backends.podsGone(last.revision()));
    cluster.endpointsWatch().subscribe("test", backends::watchChanged);
    cluster.clusterIps().subscribe("test", backends::clusterIp);
    cluster.publicAddresses().subscribe("test", throttler::onPublicAddresses);
    backends.healthy().subscribe("test", throttler::onDestinations);
    backends.healthy().subscribe("test", now -> require(!now.givenUp() || apiAwaySince == null
        || clock.elapsed().minus(apiAwaySince).compareTo(NOTICED) < 0,
        now.revision()
            + " is given up, but Kubernetes cannot tell whether its pods were replaced"));
    backends.healthy().subscribe("test", now -> {
      healthy.put(now.revision(), now);
      checks(now.revision()).noteCapacity(
          deployment(now.revision()).limit() * now.pods().all().size());
      story.tell("%s serves at %s%s", now.revision(), now.pods(),
          now.clusterIp() == null ? "" : " through " + now.clusterIp());
    });
    throttler.unreachable().subscribe("test", pod -> {
      backends.onUnreachable(pod.revision(), pod.destination());
      long now = clock.elapsed().toNanos();
      clock.schedule(SOON, () -> checks(pod.revision()).unreachable(pod.destination(), now,
          healthy.get(pod.revision())));
    });
  }

  private static void tell(Autoscaler autoscaler, Deployment changed) {
    if (changed.exists()) {
      autoscaler.target(changed.id(), WORKLOAD, changed.scaling());
      autoscaler.pods(changed.id(), changed.ready());
    } else {
      autoscaler.targetGone(changed.id(), WORKLOAD);
    }
  }

  private final class Scales implements ScaleClient<ScaleTarget> {
    @Override
    public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget workload) {
      var found = deployment(id);
      return CompletableFuture
          .completedFuture(new ScaleApiResult.Found(found.wanted(), found.size(), "1"));
    }

    @Override
    public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget workload,
        ScaleApiResult.Found read, int replicas) {
      deployment(id).scale(replicas);
      return read(id, workload);
    }
  }

  /** Requests, and things that go wrong, for this long. */
  void live(Duration length) {
    trouble = true;
    clock.advance(Duration.ofMillis(200));
    request(clock.elapsed().toNanos() + length.toNanos());
    goWrong(clock.elapsed().toNanos() + length.toNanos());
    check();
    clock.advance(length);
    trouble = false;
  }

  private void request(long endNanos) {
    if (clock.elapsed().toNanos() >= endNanos) {
      return;
    }
    boolean burst = random.nextInt(20) == 0;
    for (int i = burst ? random.nextInt(40) : 0; i >= 0; i--) {
      any().ifExists(callers::sendTo);
    }
    boolean quiet = random.nextInt(60) == 0;
    clock.schedule(Duration.ofMillis(random.nextInt(quiet ? 12_000 : 120)),
        () -> request(endNanos));
  }

  private Deployment any() {
    return List.copyOf(deployments.values()).get(random.nextInt(deployments.size()));
  }

  private void goWrong(long endNanos) {
    if (clock.elapsed().toNanos() >= endNanos) {
      return;
    }
    switch (random.nextInt(14)) {
      case 0 -> {
        story.tell("the API goes down");
        api.goesDown();
        apiAwaySince = apiAwaySince == null ? clock.elapsed() : apiAwaySince;
        boolean isLong = random.nextInt(4) == 0;
        clock.schedule(Duration.ofMillis(random.nextInt(isLong ? 40_000 : 5_000)),
            this::apiReturns);
      }
      case 1 -> api.breakWatches();
      case 2 -> api.compacts();
      case 3 -> api.losesEvents();
      case 4 -> api.lags(Duration.ofMillis(random.nextInt(3_000)));
      case 5 -> {
        story.tell("the autoscaler's link is lost");
        linkIsUp = false;
        clock.schedule(Duration.ofMillis(random.nextInt(8_000)), this::reconnect);
      }
      case 6 -> any().recreate();
      default -> any().troublePod();
    }
    clock.schedule(Duration.ofMillis(random.nextInt(3_000)), () -> goWrong(endNanos));
  }

  private void apiReturns() {
    story.tell("the API is back");
    api.comesBack();
    apiAwaySince = null;
  }

  private void reconnect() {
    if (!linkIsUp) {
      story.tell("the autoscaler's link is back");
      linkIsUp = true;
      reporter.connected();
      checks.values().forEach(RevisionChecks::linked);
    }
  }

  /** All is well again, and nobody asks any more. */
  void comeToRest() {
    story.tell("everything heals");
    apiReturns();
    reconnect();
    deployments.values().forEach(Deployment::heal);
    deployments.values().forEach(Deployment::stayUnlisted);
    clock.advance(Duration.ofSeconds(90));
  }

  /** What must hold when it has been quiet for more than a minute. */
  void checkRest() {
    require(callers.open() == 0, callers.open() + " requests did not end");
    require(callers.heldBytes() == 0, callers.heldBytes() + " bytes are counted and not held");
    require(pods.running() == 0, pods.running() + " requests run, and nobody asks");
    for (var deployment : deployments.values()) {
      var id = deployment.id();
      var view = throttler.view(id);
      require(view == null || view.inFlight() == 0 && view.queued() == 0,
          id + " counts requests that are gone: " + view);
      require(deployment.size() == deployment.least(),
          id + " has " + deployment.size() + " pods, though it is idle");
      var now = healthy.get(id);
      var expected = HealthyDestinations.pods(id, deployment.serving());
      require(expected.equals(now) || now == null && expected.pods().isEmpty(),
          id + " is to be served at " + expected.pods() + ", but is at " + now);
    }
    int probes = pods.probes;
    clock.advance(Duration.ofSeconds(30));
    require(pods.probes - probes < 5, pods.probes - probes + " probes of healthy pods");
  }

  /** All is deleted, and nothing may be left of it. */
  void checkDeleted() {
    deployments.values().stream().filter(Deployment::exists).forEach(Deployment::delete);
    clock.advance(Duration.ofMinutes(10));
    require(throttler.revisions().isEmpty(),
        throttler.revisions() + " are deleted, and the throttler keeps them");
    Quiescence.check(throttler);
  }

  Map<Integer, Integer> statuses() {
    return callers.statuses();
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** What must hold at any time. */
  private void check() {
    callers.check();
    checks.values().forEach(one -> one.check(linkIsUp));
    if (trouble || callers.open() > 0) {
      clock.schedule(RevisionChecks.PERIOD, this::check);
    }
  }

  private RevisionChecks checks(RevisionId id) {
    return Objects.requireNonNull(checks.get(id));
  }

  private Deployment deployment(RevisionId id) {
    return Objects.requireNonNull(deployments.get(id));
  }

  private final class Watch implements SimulatedPods.Observer {
    @Override
    public void headLeft(String request) {
      callers.headLeft(request);
    }

    @Override
    public String sender(String request) {
      return callers.uidFor(request);
    }

    @Override
    public void began(Destination destination, SimulatedPods.Process process, String sender) {
      checks(process.revision).began(destination, process, sender,
          healthy.get(process.revision));
    }
  }

  /** To the autoscaler; what is sent while it is down is lost. */
  private final class Link implements StatSink {
    private final Autoscaler autoscaler;

    Link(Autoscaler autoscaler) {
      this.autoscaler = autoscaler;
    }

    @Override
    public void atOnce(List<RevisionStat> stats) {
      report(stats);
    }

    @Override
    public void report(List<RevisionStat> stats) {
      var sent = new ArrayList<>(stats);
      if (linkIsUp) {
        clock.schedule(Duration.ofMillis(random.nextInt(5)),
            () -> autoscaler.received(new ReportBatch("activator", OptionalDouble.empty(),
                sent.stream().map(one -> new ReportBatch.Entry(one.revision(), TestValues.sample(
                    "activator", one.averageConcurrency(), one.requestCount()))).toList())));
      }
    }
  }

  /** Of the revision, as the API has it now. */
  interface RevisionTask {
    void accept(Revision revision);
  }
}
