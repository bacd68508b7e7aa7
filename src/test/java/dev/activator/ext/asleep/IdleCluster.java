package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PodsByReadiness.Identity;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.testing.Make;
import dev.activator.throttle.Throttler;
import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.ShrinkSpec;
import dev.activator.ext.asleep.policy.SleepCalls;
import dev.activator.config.RevisionAnnotations;
import dev.activator.kube.LeadershipCheck;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.loop.Loop;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.StatusField;
import dev.activator.revision.Destination;
import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.ScalingListener;
import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.standalone.autoscaler.ReportBatch;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A workload with two activators, whose leader may die, and whose watches may be late by seconds. Pods fail
 * to fall asleep, and to wake.
 */
final class IdleCluster {
  static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment", "web");
  static final IdleTarget TARGET = new IdleTarget(WORKLOAD, "sleep", Duration.ZERO,
      Duration.ofSeconds(60), SleepCalls.DEFAULT, ShrinkSpec.NONE);
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  static final class Pod {
    private final Destination address;
    boolean asleep;
    boolean ready;
    boolean terminating;
    int inFlight;
    int restarts;
    /** Whether its node is lost, which Kubernetes does not know yet. */
    boolean isLost;

    Pod(int number) {
      address = new Destination("10.0.0." + number, 80);
    }

    /** One that is asleep need not be ready. */
    boolean answers() {
      return (ready || asleep) && !isLost;
    }

    void sent() {
      assertThat(asleep).as("a request is sent to a pod that is asleep").isFalse();
      inFlight++;
    }

    void answered() {
      assertThat(asleep).as("a request runs on a pod that is asleep").isFalse();
      inFlight--;
    }
  }

  final Random random;
  final VirtualLoop loop = new VirtualLoop();
  final List<Pod> pods = new ArrayList<>();
  final List<Activator> activators = List.of(new Activator(this, "a"),
      new Activator(this, "b"));
  @Nullable IdleState state;
  int replicas;
  int version = 1;
  int podsMade;
  int leaders;
  int sleeps;
  int waiting;
  @Nullable Leader leader;
  boolean faults = true;
  /** Whether the API refuses to write replicas. */
  boolean refusesScales;
  /** Whether the API refuses to write states. */
  boolean refusesStates;
  /** Whether activators get to know no states any more. */
  boolean watchesStop;
  /** Whether that pods are about to wake is not stored, as for frozen processes. */
  boolean wakesAtOnce;
  /** Called when the leader's activator sends requests to pods that have been woken. */
  Runnable onWoken = () -> {
  };
  /** Whether no pod falls asleep any more. */
  boolean refusesSleep;
  /** Whether the Service lists no pod, since it is being replaced. */
  boolean isUnlisted;
  /** What {@link #listing} was when leaders saw it last. */
  private @Nullable PodsByReadiness listed = PodsByReadiness.NONE;
  private int listings;
  private int listedAt;
  /** Whether the ScaledService is deleted. */
  boolean isDeleted;
  /** Called when pods are about to fall asleep. */
  Runnable onSleep = () -> {
  };
  /** Called when the state was read, and the answer is under way. */
  Runnable onRead = () -> {
  };
  Duration sleepTakes = Duration.ZERO;
  int maxRequestMillis = 400;
  final List<String> events = new ArrayList<>();
  final List<String> wakes = new ArrayList<>();
  /** One of an older release, which acknowledges nothing; null if there is none. */
  @Nullable Activator old;

  IdleCluster(long seed) {
    random = new Random(seed);
  }

  boolean isOld(Activator one) {
    return one == old;
  }

  void begin() {
    lead();
    activators.forEach(Activator::start);
  }

  void lead() {
    leader = new Leader(this);
    leader.start();
  }

  void delete() {
    isDeleted = true;
    if (leader != null) {
      leader.autoscaler.targetGone(WEB, WORKLOAD);
      leader.revisions.remove(WEB);
    }
  }

  void kill() {
    var dying = leader;
    if (dying != null) {
      dying.alive = false;
      leader = null;
      loop.schedule(Duration.ofMillis(4_000 + random.nextInt(12_000)), this::lead);
    }
  }

  Duration latency() {
    return Duration.ofMillis(1 + random.nextInt(faults && random.nextInt(20) == 0 ? 1_500 : 10));
  }

  /** Answers after a while; the effect is some time before. */
  <T> CompletableFuture<T> call(Supplier<T> effect) {
    var answer = new CompletableFuture<T>();
    loop.schedule(latency(), () -> {
      var value = effect.get();
      loop.schedule(latency(), () -> answer.complete(value));
    });
    return answer;
  }

  void set(@Nullable IdleState next) {
    state = next;
    version++;
    int at = version;
    activators.forEach(one -> loop.schedule(watchDelay(), () -> one.watched(at, next)));
  }

  Duration watchDelay() {
    return Duration.ofMillis(1 + random.nextInt(faults && random.nextInt(3) == 0 ? 8_000 : 50));
  }

  void scale(int next) {
    replicas = next;
    if (next == 0) {
      pods.forEach(pod -> {
        pod.terminating = true;
        loop.schedule(Duration.ofMillis(random.nextInt(3_000)), () -> {
          pods.remove(pod);
          changed();
        });
      });
    } else if (pods.stream().allMatch(pod -> pod.terminating)) {
      var pod = new Pod(++podsMade);
      pods.add(pod);
      start(pod);
    }
    changed();
  }

  private void start(Pod pod) {
    loop.schedule(Duration.ofMillis(500 + random.nextInt(2_000)), () -> {
      pod.ready = true;
      pod.restarts++;
      changed();
    });
  }

  /** Its pod crashes: it starts again, or is replaced. */
  void crash(boolean isReplaced) {
    pods.stream().filter(pod -> pod.ready && !pod.terminating).findFirst().ifPresent(pod -> {
      if (isReplaced) {
        pods.remove(pod);
        var next = new Pod(++podsMade);
        pods.add(next);
        start(next);
      } else {
        pod.ready = false;
        pod.asleep = false;
        start(pod);
      }
      changed();
    });
  }

  /** Adds a pod that does not listen yet. */
  Pod addPod() {
    var pod = new Pod(++podsMade);
    pods.add(pod);
    changed();
    return pod;
  }

  void changed() {
    activators.forEach(Activator::publish);
    var now = listing();
    int at = ++listings;
    loop.schedule(watchDelay(), () -> {
      if (at > listedAt) {
        listedAt = at;
        listed = now;
      }
    });
  }

  /** The pods that the Service lists; null while it is replaced. */
  private @Nullable PodsByReadiness listing() {
    return isUnlisted
        ? null
        : new PodsByReadiness(
            DestinationSet.of(usable().stream().map(pod -> pod.address).toList()),
            DestinationSet.of(pods.stream().map(pod -> pod.address).toList()),
            DestinationSet.NONE, pods.stream().collect(
                Collectors.toMap(pod -> pod.address, pod -> new Identity("u", "" + pod.restarts))));
  }

  void replaceService(int millis) {
    isUnlisted = true;
    changed();
    loop.schedule(Duration.ofMillis(millis), () -> {
      isUnlisted = false;
      changed();
    });
  }

  /** A Service lists ready pods, or else those that are terminating. */
  List<Pod> usable() {
    if (isUnlisted) {
      return List.of();
    }
    var ready = pods.stream().filter(pod -> pod.ready && !pod.terminating).toList();
    return ready.isEmpty() ? pods.stream().filter(pod -> pod.ready).toList() : ready;
  }

  CompletableFuture<String> put(List<Destination> all, boolean asleep) {
    return call(() -> {
      var named = pods.stream().filter(pod -> all.contains(pod.address)).toList();
      boolean fails = faults && random.nextInt(12) == 0
          || named.stream().anyMatch(pod -> !pod.answers());
      named.stream().filter(Pod::answers).forEach(pod -> {
        if (!fails || random.nextBoolean()) {
          assertThat(asleep && pod.inFlight > 0).as("in flight on a pod that falls asleep")
              .isFalse();
          sleeps += asleep && !pod.asleep ? 1 : 0;
          pod.asleep = asleep;
        }
      });
      return fails ? "the pod answered 500" : "";
    });
  }
  static final class Activator implements StatSink {
    private final IdleCluster cluster;
    private final String name;
    private final TestRevisions revisions;
    private final Throttler throttler;
    private final IdleAcknowledger acknowledger;
    int seen;
    @Nullable IdleState known;
    @Nullable IdleState woken;
    int load;

    Activator(IdleCluster cluster, String name) {
      this.cluster = cluster;
      this.name = name;
      this.revisions = new TestRevisions(cluster.loop);
      this.throttler = Make.throttler(revisions.live, 1_000);
      this.acknowledger = new IdleAcknowledger(cluster.loop, revisions.live, throttler, this);
      publish();
    }

    void start() {
      cluster.loop.schedule(Duration.ofSeconds(1), this::start);
      deliver(true);
    }

    void watched(int version, @Nullable IdleState state) {
      // A watch shows versions in order, and only the newest of those it has.
      if (version > seen && !cluster.watchesStop) {
        seen = version;
        known = state;
        publish();
      }
    }

    /** As the cluster publishes a ScaledService and the pods of its Service. */
    void publish() {
      var idle = known == null || known.equals(woken) ? null : known;
      var falling = idle != null && idle.phase() == Phase.FALLING_ASLEEP
          ? Map.of(RevisionAnnotations.FALLING_ASLEEP,
              new IdleState.FallingAsleep(idle.version(), 1).toString())
          : Map.<String, String>of();
      var revision = revisions.put(new Revision(WEB, "", PortProtocol.HTTP1, 0,
          RequestTimeouts.DEFAULT, true, null, Map.of(), falling, null));
      throttler.onRevision(revision);
      acknowledger.onRevision(revision);
      var pods = idle == null
          ? DestinationSet.of(cluster.usable().stream().map(pod -> pod.address).toList())
          : DestinationSet.NONE;
      throttler.onDestinations(HealthyDestinations.pods(WEB, pods));
      var listed = new PodsByReadiness(pods, DestinationSet.NONE);
      acknowledger.onListed(new PrivateEndpoints(WEB, listed, listed));
    }

    void request() {
      load++;
      cluster.waiting++;
      if (load == 1) {
        deliver(false);
      }
      var caller = new Caller();
      if (throttler.admit(revisions.of(WEB), caller) instanceof Permit permit) {
        caller.granted(permit);
      }
    }

    final class Caller implements QueuedCaller {
      @Override
      public Loop loop() {
        return cluster.loop;
      }

      @Override
      public long maxWaitNanos() {
        return Long.MAX_VALUE;
      }

      @Override
      public void granted(Permit permit) {
        cluster.waiting--;
        var pod = cluster.pods.stream()
            .filter(one -> one.address.equals(permit.destination())).findFirst();
        // One that has just ended refuses the connection.
        pod.ifPresent(Pod::sent);
        cluster.loop.schedule(Duration.ofMillis(cluster.random.nextInt(cluster.maxRequestMillis)),
            () -> {
              pod.ifPresent(Pod::answered);
              load--;
              permit.release(Ending.ANSWERED);
            });
      }

      @Override
      public void rejected(Rejection reason) {
        throw new AssertionError(reason);
      }
    }

    @Override
    public void atOnce(List<RevisionStat> stats) {
      if (!cluster.isOld(this)) {
        stats.forEach(stat -> deliver(new ReportBatch(name, OptionalDouble.empty(), List.of(),
            Map.of(stat.revision(), stat.acknowledged()))));
      }
    }

    @Override
    public void report(List<RevisionStat> stats) {
      throw new IllegalStateException("acknowledgements do not wait");
    }

    void deliver(boolean regular) {
      deliver(new ReportBatch(name,
          regular ? OptionalDouble.of(1_000) : OptionalDouble.empty(),
          load == 0
              ? List.of()
              : List.of(
                  new ReportBatch.Entry(WEB, TestValues.sample(name, load, regular ? 0 : 1)))));
    }

    /** Reports to a dead leader are lost. Those of one connection keep their order. */
    void deliver(ReportBatch batch) {
      var to = cluster.leader;
      if (to != null) {
        cluster.loop.schedule(Duration.ofMillis(1), () -> to.received(batch));
      }
    }
  }

  /** A leader's process. Dead, it does nothing any more, but its calls are under way. */
  static final class Leader
      implements Loop, LeadershipCheck, IdleMethod.Environment, ScalingListener,
      StatusField<IdleState>,
      PodSleep {
    private final IdleCluster cluster;
    /** That of this process. */
    final Activator own;
    final Autoscaler autoscaler;
    final TestRevisions revisions;
    final IdleClient idle;
    boolean alive = true;
    /** Whether its Lease was not renewed in time, while no other leads. */
    boolean isLate;
    /** How often it was checked whether it leads. */
    int checks;

    Leader(IdleCluster cluster) {
      this.cluster = cluster;
      own = cluster.activators.get(cluster.leaders++ % 2);
      revisions = new TestRevisions(this);
      revisions.begun(WEB);
      idle = new IdleClient(this, this, () -> Map.of("sleep", this), revisions.live);
      this.autoscaler = new Autoscaler(this, new ScaleClient<>() {
        @Override
        public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id, ScaleTarget target,
            Duration drain) {
          return idle.prepareScaleToZero(id, TARGET, drain);
        }

        @Override
        public void cancelScaleToZero(RevisionId id, ScaleTarget target) {
          idle.cancelScaleToZero(id, TARGET);
        }

        @Override
        public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget target) {
          return idle.read(id, TARGET);
        }

        @Override
        public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget target,
            Found read, int replicas) {
          return idle.write(id, TARGET, read, replicas);
        }

        @Override
        public Change change(RevisionId id, ScaleTarget target, int from, int to) {
          return idle.change(id, TARGET, from, to);
        }
      }, this, this, new Random(cluster.random.nextLong()),
          Clock.fixed(BEGIN, ZoneOffset.UTC));
    }

    void start() {
      autoscaler.members(Map.of("a", true, "b", true));
      autoscaler.start();
      autoscaler.target(TestValues.scaledTarget(WEB, WORKLOAD, 0, OptionalInt.empty(),
          OptionalInt.of(20), 0, Duration.ofSeconds(6), Duration.ofSeconds(300),
          OptionalInt.empty()));
      watch();
    }

    void watch() {
      schedule(Duration.ofMillis(100), this::watch);
      autoscaler.pods(WEB, cluster.state == null
          ? (int) cluster.pods.stream().filter(pod -> pod.ready && !pod.terminating).count()
          : 0);
    }

    void received(ReportBatch batch) {
      if (alive) {
        autoscaler.received(batch);
      }
    }

    @Override
    public void execute(Runnable task) {
      cluster.loop.execute(() -> run(task));
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return cluster.loop.schedule(delay, () -> run(task));
    }

    void run(Runnable task) {
      if (alive) {
        task.run();
      }
    }

    @Override
    public long nanoTime() {
      return cluster.loop.nanoTime();
    }

    @Override
    public boolean mayWrite() {
      checks++;
      return alive && !isLate;
    }

    @Override
    public CompletableFuture<Boolean> confirmed() {
      return cluster.call(() -> alive);
    }

    @Override
    public Loop loop() {
      return this;
    }

    @Override
    public Instant now() {
      return BEGIN.plus(cluster.loop.elapsed());
    }

    @Override
    public KubernetesApiClient api() {
      throw new IllegalStateException("the statuses are given");
    }

    @Override
    public LeadershipCheck leadership() {
      return this;
    }

    @Override
    public ScalingListener events() {
      return this;
    }

    @Override
    public void happened(RevisionId id, boolean warning, String reason, String message) {
      cluster.events.add(reason + " " + message);
    }

    @Override
    public void woken(String method, Duration took) {
      cluster.wakes.add(method);
    }

    @Override
    public CompletableFuture<@Nullable PodsByReadiness> pods(RevisionId id) {
      return cluster.call(() -> cluster.faults ? cluster.listed : cluster.listing());
    }

    @Override
    public List<String> unacknowledged(RevisionId id, IdleState falling, long written) {
      return autoscaler.unacknowledged(id, falling);
    }

    @Override
    public void woken(RevisionId id, @Nullable IdleState state) {
      own.woken = state;
      own.publish();
      cluster.onWoken.run();
    }

    @Override
    public boolean wakesAtOnce() {
      return cluster.wakesAtOnce;
    }

    @Override
    public ScaleClient<ScaleTarget> workloads() {
      return new ScaleClient<>() {
        @Override
        public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget workload) {
          return cluster.call(() -> new Found(cluster.replicas, cluster.replicas, "1"));
        }

        @Override
        public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget workload,
            Found read, int replicas) {
          return cluster.call(() -> {
            if (cluster.refusesScales) {
              return new Refused(Reason.UNAVAILABLE, "no answer");
            }
            cluster.scale(replicas);
            return new Found(replicas, replicas, "1");
          });
        }
      };
    }

    @Override
    public CompletableFuture<Stored<IdleState>> get(RevisionId id) {
      return cluster.call(() -> {
        if (cluster.isDeleted) {
          return Stored.refused(new Refused(Reason.NOT_FOUND, "not found"));
        }
        cluster.onRead.run();
        return new Stored<>("u", cluster.state, Integer.toString(cluster.version), null);
      });
    }

    @Override
    public CompletableFuture<Stored<IdleState>> replace(RevisionId id, Stored<IdleState> read,
        @Nullable IdleState next) {
      return cluster.call(() -> {
        if (cluster.isDeleted) {
          return Stored.refused(new Refused(Reason.NOT_FOUND, "not found"));
        }
        if (cluster.refusesStates || cluster.faults && cluster.random.nextInt(30) == 0) {
          return Stored.refused(new Refused(Reason.FORBIDDEN, "refused"));
        }
        if (!read.version().equals(Integer.toString(cluster.version))) {
          return Stored.refused(new Refused(Reason.CONFLICT, "conflict"));
        }
        cluster.set(next);
        return cluster.faults && cluster.random.nextInt(30) == 0
            ? Stored.refused(new Refused(Reason.UNAVAILABLE, "no answer"))
            : new Stored<>("u", cluster.state, Integer.toString(cluster.version), null);
      });
    }

    @Override
    public CompletableFuture<String> sleep(RevisionId id, List<Destination> pods,
        IdleTarget target) {
      cluster.onSleep.run();
      if (cluster.refusesSleep) {
        return cluster.call(() -> "the pod answered 500");
      }
      var answer = new CompletableFuture<String>();
      cluster.loop.schedule(cluster.sleepTakes,
          () -> cluster.put(pods, true).thenAccept(answer::complete));
      return answer;
    }

    @Override
    public CompletableFuture<String> wake(RevisionId id, List<Destination> pods,
        IdleTarget target) {
      return cluster.put(pods, false);
    }
  }
}
