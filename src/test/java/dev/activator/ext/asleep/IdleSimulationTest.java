package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.SleepCalls;
import dev.activator.kube.LeadershipCheck;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.loop.Loop;
import dev.activator.platform.IdleMethod;
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
import dev.activator.testing.Seeds;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A workload with two activators, whose leader dies at any moment, and whose watches may be late by
 * seconds. Pods fail to fall asleep, and to wake.
 */
class IdleSimulationTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment", "web");
  private static final IdleTarget TARGET = new IdleTarget(WORKLOAD, "sleep", Duration.ZERO,
      Duration.ofSeconds(60), SleepCalls.DEFAULT);
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void noRequestReachesAPodThatIsAsleep_andTheRightStateFollows() {
    var sleeps = new AtomicInteger();
    Seeds.each(seed -> sleeps.addAndGet(new Cluster(seed).run()));
    assertThat(sleeps).as("how often a pod fell asleep").hasPositiveValue();
  }

  private static final class Pod {
    private final Destination address;
    private boolean asleep;
    private boolean ready;
    private boolean terminating;
    private int inFlight;

    Pod(int number) {
      address = new Destination("10.0.0." + number, 80);
    }
  }

  private static final class Cluster {
    private final Random random;
    private final VirtualLoop loop = new VirtualLoop();
    private final List<Pod> pods = new ArrayList<>();
    private final List<Activator> activators = List.of(new Activator(this, "a"),
        new Activator(this, "b"));
    private @Nullable IdleState state;
    private int replicas;
    private int version = 1;
    private int podsMade;
    private int sleeps;
    private int waiting;
    private @Nullable Leader leader;
    private boolean faults = true;

    Cluster(long seed) {
      random = new Random(seed);
    }

    int run() {
      lead();
      activators.forEach(Activator::start);
      for (int i = 0; i < 30; i++) {
        int requests = random.nextInt(4);
        for (int j = 0; j < requests; j++) {
          var at = Duration.ofMillis(random.nextInt(20_000));
          loop.schedule(at, () -> activators.get(random.nextInt(2)).request());
        }
        if (random.nextInt(4) == 0) {
          loop.schedule(Duration.ofMillis(random.nextInt(20_000)), this::kill);
        }
        loop.advance(Duration.ofSeconds(20));
      }
      faults = false;
      loop.advance(Duration.ofSeconds(40));
      assertThat(waiting).as("requests that wait").isZero();
      assertThat(state == null ? "awake" : state.phase() + " " + replicas)
          .isIn("ASLEEP 1", "awake", "ASLEEP 0");
      if (state == null) {
        assertThat(replicas).as("it is idle, and awake").isZero();
      } else if (replicas > 0) {
        assertThat(pods).filteredOn(pod -> !pod.terminating).hasSize(1)
            .allMatch(pod -> pod.asleep);
      }
      activators.getFirst().request();
      loop.advance(Duration.ofSeconds(20));
      assertThat(waiting).as("requests that wait").isZero();
      return sleeps;
    }

    private void lead() {
      leader = new Leader(this);
      leader.start();
    }

    private void kill() {
      var dying = leader;
      if (dying != null) {
        dying.alive = false;
        leader = null;
        loop.schedule(Duration.ofMillis(4_000 + random.nextInt(12_000)), this::lead);
      }
    }

    private Duration latency() {
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

    private Duration watchDelay() {
      return Duration.ofMillis(1 + random.nextInt(faults && random.nextInt(10) == 0 ? 8_000 : 50));
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
        loop.schedule(Duration.ofMillis(500 + random.nextInt(2_000)), () -> {
          pod.ready = true;
          changed();
        });
      }
      changed();
    }

    private void changed() {
      activators.forEach(Activator::send);
    }

    /** A Service lists ready pods, or else those that are terminating. */
    List<Pod> usable() {
      var ready = pods.stream().filter(pod -> pod.ready && !pod.terminating).toList();
      return ready.isEmpty() ? pods.stream().filter(pod -> pod.ready).toList() : ready;
    }

    CompletableFuture<String> put(List<Destination> all, boolean asleep) {
      return call(() -> {
        boolean fails = faults && random.nextInt(12) == 0;
        pods.stream().filter(pod -> all.contains(pod.address)).forEach(pod -> {
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
  }

  private static final class Activator {
    private final Cluster cluster;
    private final String name;
    private int seen;
    private @Nullable IdleState known;
    private int queued;
    private int inFlight;

    Activator(Cluster cluster, String name) {
      this.cluster = cluster;
      this.name = name;
    }

    void start() {
      cluster.loop.schedule(Duration.ofSeconds(1), this::start);
      report(true);
    }

    void watched(int version, @Nullable IdleState state) {
      // A watch shows versions in order, and only the newest of those it has.
      if (version > seen) {
        seen = version;
        known = state;
        send();
        acknowledge();
      }
    }

    void request() {
      queued++;
      cluster.waiting++;
      if (queued + inFlight == 1) {
        report(false);
      }
      send();
    }

    void send() {
      while (queued > 0 && known == null && !cluster.usable().isEmpty()) {
        queued--;
        cluster.waiting--;
        inFlight++;
        var all = cluster.usable();
        var pod = all.get(cluster.random.nextInt(all.size()));
        assertThat(pod.asleep).as("a request is sent to a pod that is asleep").isFalse();
        pod.inFlight++;
        cluster.loop.schedule(Duration.ofMillis(cluster.random.nextInt(400)), () -> {
          assertThat(pod.asleep).as("a request runs on a pod that is asleep").isFalse();
          pod.inFlight--;
          inFlight--;
          acknowledge();
        });
      }
    }

    private void report(boolean regular) {
      int load = queued + inFlight;
      deliver(new ReportBatch(name,
          regular ? OptionalDouble.of(1_000) : OptionalDouble.empty(),
          load == 0
              ? List.of()
              : List.of(
                  new ReportBatch.Entry(WEB, TestValues.sample(name, load, regular ? 0 : 1)))));
      if (regular) {
        acknowledge();
      }
    }

    private void acknowledge() {
      if (known != null && known.phase() == Phase.FALLING_ASLEEP && inFlight == 0) {
        deliver(new ReportBatch(name, OptionalDouble.empty(), List.of(),
            Map.of(WEB, known.version())));
      }
    }

    /** Reports to a dead leader are lost. Those of one connection keep their order. */
    private void deliver(ReportBatch batch) {
      var to = cluster.leader;
      if (to != null) {
        cluster.loop.schedule(Duration.ofMillis(1), () -> to.received(batch));
      }
    }
  }

  /** A leader's process. Dead, it does nothing any more, but its calls are under way. */
  private static final class Leader
      implements Loop, LeadershipCheck, IdleMethod.Environment, ScalingListener, IdleStatuses,
      PodSleep {
    private final Cluster cluster;
    private final Autoscaler autoscaler;
    private boolean alive = true;

    Leader(Cluster cluster) {
      this.cluster = cluster;
      var revisions = new TestRevisions(this);
      revisions.begun(WEB);
      var idle = new IdleClient(this, this, Map.of("sleep", this), revisions.live);
      this.autoscaler = new Autoscaler(this, new ScaleClient<>() {
        @Override
        public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id, ScaleTarget target) {
          return idle.prepareScaleToZero(id, TARGET);
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

    private void watch() {
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

    private void run(Runnable task) {
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
      return alive;
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
    public CompletableFuture<List<Destination>> pods(RevisionId id) {
      return cluster.call(() -> cluster.pods.stream().map(pod -> pod.address).toList());
    }

    @Override
    public List<String> unacknowledged(RevisionId id, IdleState falling, long written) {
      return autoscaler.unacknowledged(id, falling);
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
            cluster.scale(replicas);
            return new Found(replicas, replicas, "1");
          });
        }
      };
    }

    @Override
    public CompletableFuture<Stored> get(RevisionId id) {
      return cluster.call(
          () -> new Stored(cluster.state, Integer.toString(cluster.version), null));
    }

    @Override
    public CompletableFuture<Stored> replace(RevisionId id, Stored read, @Nullable IdleState next) {
      return cluster.call(() -> {
        if (!read.version().equals(Integer.toString(cluster.version))) {
          return new Stored(null, "", new Refused(Reason.CONFLICT, "conflict"));
        }
        cluster.set(next);
        return cluster.faults && cluster.random.nextInt(30) == 0
            ? new Stored(null, "", new Refused(Reason.UNAVAILABLE, "no answer"))
            : new Stored(cluster.state, Integer.toString(cluster.version), null);
      });
    }

    @Override
    public CompletableFuture<String> sleep(List<Destination> pods, IdleTarget target) {
      return cluster.put(pods, true);
    }

    @Override
    public CompletableFuture<String> wake(List<Destination> pods, IdleTarget target) {
      return cluster.put(pods, false);
    }
  }
}
