package dev.activator.standalone.autoscaler;

import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.FakeLease;
import dev.activator.kube.LeaderElection;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.LeaseClient;
import dev.activator.revision.ScaleClient;
import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.standalone.autoscaler.policy.LoadSample;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.LeaseClient.LeaseApiResult;
import dev.activator.revision.LeaseClient.LeaseRecord;
import dev.activator.standalone.policy.LoadTarget;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.standalone.policy.KeepWarmSettings;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Activators that elect one of them and report to it, and the API server, in one virtual time. */
final class SimulatedScaling {
  static final Duration WINDOW = Duration.ofSeconds(12);
  static final int TARGET = 5;
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment", "w");
  private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(2);
  /** A request that reaches an API server at all does so before this. */
  private static final int LATEST_MILLIS = 3_000;
  private static final Duration SILENCE = Duration.ofSeconds(3);

  /** At 0: machines multiply its time by their rates. */
  final VirtualLoop clock = VirtualLoop.nearOverflow();
  final Random random;
  final StringBuilder story = new StringBuilder();
  final Map<RevisionId, Workload> workloads = new TreeMap<>();
  final List<Activator> activators = new ArrayList<>();
  final FakeLease lease = new FakeLease();
  private boolean harsh;
  private int names;
  private int lastTerm;
  boolean apiDown;
  int writes;
  int conflicts;

  SimulatedScaling(long seed, boolean harsh) {
    this.random = new Random(seed);
    this.harsh = harsh;
    workload("many", OptionalInt.of(10));
    workload("hpa", OptionalInt.empty());
    // Its requests may run for longer than a window, and are then no arrivals.
    var rate = new RevisionId("shop", "rate");
    workloads.put(rate,
        new Workload(new ScaledServiceSpec(rate, WORKLOAD, 0, OptionalInt.of(10), false,
            new LoadTarget(OptionalInt.empty(), OptionalInt.of(TARGET), OptionalInt.empty()), 0,
            WINDOW, Duration.ofSeconds(20), OptionalInt.empty(), KeepWarmSettings.NONE,
            ConflictSpec.NONE, "")));
    for (int i = 1 + random.nextInt(5); i > 0; i--) {
      join();
    }
  }

  private void workload(String name, OptionalInt max) {
    var id = new RevisionId("shop", name);
    workloads.put(id,
        new Workload(TestValues.scaledTarget(id, WORKLOAD, 0, max, OptionalInt.of(TARGET),
            0, WINDOW, Duration.ofSeconds(20), OptionalInt.empty())));
  }

  /** Requests and reports are quick, and arrive, from now on. */
  void calm() {
    harsh = false;
  }

  void tell(String text, Object... values) {
    story.append("%10.4f s  ".formatted(clock.elapsed().toNanos() / 1e9))
        .append(text.formatted(values)).append('\n');
  }

  static void require(boolean holds, Supplier<String> otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise.get());
    }
  }

  /** An object with a scale, and its pods. */
  final class Workload {
    final ScaledServiceSpec target;
    int replicas;
    int ready;
    private long version = 1;
    private int round;

    Workload(ScaledServiceSpec target) {
      this.target = target;
    }

    Found found() {
      return new Found(replicas, ready, Long.toString(version));
    }

    /** Anybody sets the replicas; pods follow. */
    void set(int now) {
      version++;
      if (now == replicas) {
        return;
      }
      replicas = now;
      ready = Math.min(ready, now);
      publish();
      int mine = ++round;
      clock.schedule(Duration.ofMillis(300 + random.nextInt(2_000)), () -> {
        if (mine == round) {
          ready = replicas;
          publish();
        }
      });
    }

    /** The object changes, but not its replicas. */
    void touch() {
      version++;
    }

    private void publish() {
      int now = ready;
      activators.forEach(one -> clock.schedule(Duration.ofMillis(random.nextInt(100)),
          () -> one.autoscaler.pods(target.id(), now)));
    }
  }

  /** One activator: its part in the election, its autoscaler, its link and its requests. */
  final class Activator
      implements LeaderElection.Listener, ScaleClient<ScaleTarget>, LeaseClient, StatSink {
    final String name = "activator-" + names++;
    final SimulatedMachine machine = new SimulatedMachine(clock, random, 0.05);
    final LeaderElection election = new LeaderElection(name, machine, this, this,
        machine.wallClock(), random, Times.DEFAULT);
    final Autoscaler autoscaler = new Autoscaler(machine, this, election, new ScalingListener() {
    }, random);
    private final TestRevisions revisions = new TestRevisions(machine);
    private final ConcurrencyReporter reporter = new ConcurrencyReporter(revisions.live, machine,
        Duration.ofSeconds(1), this);
    private final RequestCounter counter = reporter.onLoop(machine);
    private final ResettableTimer members = new ResettableTimer(machine, this::readMembers);
    /** When each of its waiting and running requests came. */
    final Map<RevisionId, List<Long>> requests = new HashMap<>();
    private final long started = clock.elapsed().toNanos();
    /** When each activator's regular batches reached it, in this term. */
    private final Map<String, List<Long>> received = new HashMap<>();
    private long elected;
    boolean leads;
    boolean alive = true;
    boolean cutOff;
    boolean apiCutOff;
    private @Nullable Activator connected;

    void start() {
      workloads.values().forEach(one -> {
        autoscaler.target(one.target);
        autoscaler.pods(one.target.id(), one.ready);
      });
      election.start();
      reporter.start();
      connect();
    }

    /** Looks where to report, as a link does that is refused. */
    private void connect() {
      if (!alive) {
        return;
      }
      var holder = election.view().holder();
      var target = activators.stream().filter(one -> one.alive && one.name.equals(holder)
          && one.leads && !(one.cutOff || cutOff)
          || one == this && one.leads
              && one.name.equals(holder))
          .findFirst().orElse(null);
      if (target != connected) {
        connected = target;
        if (target != null) {
          machine.execute(reporter::connected);
        }
      }
      machine.schedule(Duration.ofMillis(100 + random.nextInt(400)), this::connect);
    }

    boolean hears(Activator from) {
      return from.connected == this && leads && (from == this || !(cutOff || from.cutOff));
    }

    void request(RevisionId id, Duration length) {
      if (machine.isPaused() || !alive) {
        return;
      }
      long now = clock.elapsed().toNanos();
      requests.computeIfAbsent(id, _ -> new ArrayList<>()).add(now);
      counter.of(revisions.begun(id)).arrived();
      clock.schedule(length, () -> end(id, now));
    }

    private void end(RevisionId id, long began) {
      if (!alive) {
        return;
      }
      if (machine.isPaused() || Objects.requireNonNull(workloads.get(id)).ready == 0) {
        clock.schedule(Duration.ofMillis(100), () -> end(id, began));
        return;
      }
      requests.get(id).remove(began);
      counter.of(revisions.begun(id)).left();
    }

    int open(RevisionId id) {
      return requests.getOrDefault(id, List.of()).size();
    }

    @Override
    public void atOnce(List<RevisionStat> stats) {
      send(stats, OptionalDouble.empty());
    }

    @Override
    public void report(List<RevisionStat> stats) {
      send(stats, OptionalDouble.of((clock.elapsed().toNanos() - started) / 1e9));
    }

    private void send(List<RevisionStat> stats, OptionalDouble uptime) {
      var to = connected;
      if (to == null || !to.hears(this)) {
        return;
      }
      var batch = new ReportBatch(name, uptime, stats.stream()
          .map(one -> new ReportBatch.Entry(one.revision(),
              new LoadSample(name, one.averageConcurrency(), one.requestCount(), one.queueTimes())))
          .toList());
      boolean late = harsh && random.nextInt(50) == 0;
      clock.schedule(Duration.ofMillis(random.nextInt(late ? 4_000 : 20)), () -> {
        if (to.hears(this)) {
          to.autoscaler.received(batch);
          if (uptime.isPresent()) {
            to.received.computeIfAbsent(name, _ -> new ArrayList<>())
                .add(clock.elapsed().toNanos());
          }
        }
      });
    }

    @Override
    public void elected(int term) {
      tell("%s leads, term %d", name, term);
      require(term >= lastTerm, () -> "term " + term + " comes after " + lastTerm);
      lastTerm = term;
      leads = true;
      elected = clock.elapsed().toNanos();
      received.clear();
      autoscaler.members(null);
      autoscaler.start();
      readMembers();
    }

    @Override
    public CompletableFuture<Void> deposed() {
      tell("%s leads no more", name);
      leads = false;
      members.cancel();
      return autoscaler.stop();
    }

    @Override
    public void onHolder(String holder) {
      // The link looks anyway.
    }

    private void readMembers() {
      if (leads) {
        members.within(Duration.ofSeconds(2));
        var _ = call(() -> roster(), null).thenAcceptAsync(autoscaler::members, machine);
      }
    }

    /** Sends a request to the API server, which may never get it, or answer in vain. */
    private <T> CompletableFuture<@Nullable T> call(Supplier<T> server, @Nullable T otherwise) {
      var answer = new CompletableFuture<@Nullable T>();
      machine.schedule(CLIENT_TIMEOUT, () -> answer.complete(otherwise));
      if (!apiCutOff && !apiDown) {
        clock.schedule(latency(), () -> {
          if (!apiDown) {
            var result = server.get();
            boolean lost = harsh && random.nextInt(60) == 0;
            clock.schedule(latency(), () -> {
              if (!lost && !apiCutOff) {
                answer.complete(result);
              }
            });
          }
        });
      }
      return answer;
    }

    @Override
    public CompletableFuture<LeaseApiResult> read() {
      return call(() -> lease.read().join(), new LeaseApiResult.Failed("no answer"));
    }

    @Override
    public CompletableFuture<LeaseApiResult> write(LeaseRecord next) {
      return call(() -> lease.write(next).join(), new LeaseApiResult.Failed("no answer"));
    }

    @Override
    public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget workload) {
      if (harsh && random.nextInt(8) == 0) {
        clock.schedule(Duration.ofMillis(random.nextInt(40)), workloads.get(id)::touch);
      }
      return call(() -> workloads.get(id).found(), new Refused(Reason.UNAVAILABLE, "no answer"));
    }

    @Override
    public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget workload,
        Found read, int replicas) {
      var one = Objects.requireNonNull(workloads.get(id));
      int term = election.view().term();
      tell("%s, term %d, writes %d for %s, which had %d: %s", name, term, replicas, id.name(),
          read.replicas(), autoscaler.views().get(id));
      writes++;
      boolean wasHarsh = harsh;
      checkOneWriter();
      if (replicas < read.replicas()) {
        checkMembership(id);
      }
      return call(() -> {
        if (!read.resourceVersion().equals(one.found().resourceVersion())) {
          conflicts++;
          return new Refused(Reason.CONFLICT, "conflict");
        }
        require(term >= newestWrite, () -> "a write of term " + term + " came after one of term "
            + newestWrite);
        newestWrite = term;
        if (replicas == 0) {
          checkNobodyWaits(id, wasHarsh);
        }
        one.set(replicas);
        return one.found();
      }, new Refused(Reason.UNAVAILABLE, "no answer"));
    }

    /** Every member was heard for a whole window without a gap. */
    private void checkMembership(RevisionId id) {
      long now = clock.elapsed().toNanos();
      // Clocks may go a twentieth fast.
      long window = (long) (WINDOW.toNanos() * 0.94);
      for (var one : activators) {
        // A leader that stood still has no requests that it does not know of.
        if (one == this || !one.alive || one.started > now - Duration.ofSeconds(5).toNanos()) {
          continue;
        }
        long from = Math.max(now - window, one.started + Duration.ofSeconds(5).toNanos());
        long last = Math.max(elected, one.started);
        if (one.started + SILENCE.toNanos() < elected) {
          require(now - elected >= window, () -> name + " scales " + id
              + " down in the first window of its term");
        }
        for (long at : received.getOrDefault(one.name, List.of())) {
          checkGap(one, last, at, from);
          last = at;
        }
        checkGap(one, last, now, from);
      }
    }

    private void checkGap(Activator one, long last, long next, long from) {
      // A batch that the loop has not handled yet counts here already.
      long most = (long) (SILENCE.toNanos() * 1.06) + Duration.ofMillis(500).toNanos();
      require(next < from || next - Math.max(last, from) <= most + Duration.ofSeconds(1).toNanos(),
          () -> name + " scales down though it did not hear " + one.name + " for "
              + (next - last) / 1e9 + " s");
    }
  }

  private int newestWrite = -1;

  private Map<String, Boolean> roster() {
    var roster = new TreeMap<String, Boolean>();
    activators.stream().filter(one -> activators.contains(one))
        .forEach(one -> roster.put(one.name, one.alive));
    return roster;
  }

  private Duration latency() {
    boolean slow = harsh && random.nextInt(40) == 0;
    return Duration.ofNanos(1_000_000L * random.nextInt(slow ? LATEST_MILLIS : 25) + 500_000);
  }

  Activator join() {
    var one = new Activator();
    tell("%s starts", one.name);
    activators.add(one);
    one.start();
    return one;
  }

  /** Its requests are lost with it. */
  void kill(Activator one) {
    tell("%s is killed", one.name);
    one.alive = false;
    one.leads = false;
    one.machine.kill();
    one.requests.clear();
    clock.schedule(Duration.ofSeconds(1), () -> activators.remove(one));
  }

  List<Activator> alive() {
    return activators.stream().filter(one -> one.alive).toList();
  }

  /** At any moment, at most one says that it may write. */
  void checkOneWriter() {
    var writers = alive().stream().filter(one -> one.election.mayWrite()).map(one -> one.name)
        .toList();
    require(writers.size() <= 1, () -> "may write at the same time: " + writers);
  }

  /** What the leader could know of is not scaled to zero. */
  private void checkNobodyWaits(RevisionId id, boolean wasHarsh) {
    // From the last batch that was heard, its silence, and a slow write.
    var known = wasHarsh
        ? SILENCE.plusMillis(LATEST_MILLIS).plusSeconds(3)
        : Duration.ofMillis(200);
    for (var one : alive()) {
      for (long since : one.requests.getOrDefault(id, List.of())) {
        require(clock.elapsed().toNanos() - since < known.toNanos(),
            () -> id + " is scaled to zero while a request waits at " + one.name + " for "
                + (clock.elapsed().toNanos() - since) / 1e9 + " s");
      }
    }
  }
}
