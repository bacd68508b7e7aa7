package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Event;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.On;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Phase;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Seen;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Settings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Workloads that conflict at random, under random load, in steps of 100 ms: two that conflict are never
 * awake at once, each request is served in time, and leaders change in between.
 */
class ConflictArbiterSimulationTest {
  private static final long STEP = Duration.ofMillis(100).toNanos();
  private static final int LOADED = 2_000;
  private static final Duration YIELD_AFTER = Duration.ofSeconds(5);
  private static final Duration START_TIMEOUT = Duration.ofSeconds(10);
  /** Time to start, and time to stop, at most; in steps. */
  private static final int MOST = 40;

  @Test
  void noneRunsBesideAnotherAndNoneStarves_for40Seeds() {
    for (long seed = 0; seed < 40; seed++) {
      new Simulation(seed).run();
    }
  }

  private static final class Simulation {
    private final Random random;
    private final List<Workload> workloads = new ArrayList<>();
    private ConflictArbiter arbiter = ConflictArbiter.EMPTY;
    private long now;
    private int served;

    Simulation(long seed) {
      random = new Random(seed);
    }

    private final class Workload {
      private final RevisionId id;
      private final Set<RevisionId> names = new HashSet<>();
      /** How many steps lie between two requests; 0 while there are none. */
      private int pause = 10;
      private int queued;
      private long waitsSince;
      private int inFlight;
      private boolean isOn;
      private int steps;
      private boolean stops;

      Workload(String name) {
        id = new RevisionId("gpu", name);
      }

      Settings settings() {
        return new Settings(new ConflictSpec(names, YIELD_AFTER), START_TIMEOUT);
      }

      boolean isReady() {
        return isOn && !stops && steps == 0;
      }

      void step() {
        if (pause > 0 && random.nextInt(pause) == 0) {
          waitsSince = queued == 0 ? now : waitsSince;
          queued++;
        }
        inFlight = random.nextInt(4) == 0 ? 0 : inFlight;
        if (isReady() && queued > 0) {
          served += queued;
          inFlight += queued;
          queued = 0;
        }
        steps = Math.max(0, steps - 1);
        if (stops && steps == 0 && inFlight == 0) {
          isOn = false;
          stops = false;
        }
        arbiter = arbiter.on(now, new Event.Observed(id,
            new Seen(isOn ? On.ON : On.OFF, isReady(), queued + inFlight > 0,
                queued + inFlight > 0)));
        if (arbiter.phase(id) == Phase.RUNNING && !isOn && queued > 0) {
          isOn = true;
          steps = random.nextInt(MOST);
        }
        // Idle, or asked to.
        boolean isIdle = isReady() && queued + inFlight == 0 && random.nextInt(100) == 0;
        if (isOn && !stops && (isIdle || arbiter.phase(id) == Phase.YIELDING)) {
          stops = true;
          steps = random.nextInt(MOST);
        }
      }
    }

    private boolean conflict(Workload one, Workload other) {
      return one != other && (one.names.contains(other.id) || other.names.contains(one.id));
    }

    private void run() {
      int count = 2 + random.nextInt(4);
      for (int i = 0; i < count; i++) {
        workloads.add(new Workload("w" + i));
      }
      workloads.forEach(one -> {
        int next = (workloads.indexOf(one) + 1) % count;
        one.names.add(workloads.get(next).id);
        workloads.stream().filter(other -> other != one && random.nextInt(3) == 0)
            .forEach(other -> one.names.add(other.id));
      });
      elected();
      // Each of the others has its turn once, and each turn ends with a stop.
      long bound = count * (START_TIMEOUT.plus(YIELD_AFTER).toNanos() + 3 * MOST * STEP);
      for (int step = 0; step < LOADED + 3_000; step++, now += STEP) {
        if (step < LOADED && random.nextInt(500) == 0) {
          workloads.get(random.nextInt(count)).pause = random.nextBoolean()
              ? 0
              : 1 + random.nextInt(50);
        }
        if (step == LOADED) {
          workloads.forEach(one -> one.pause = 0);
        }
        if (step < LOADED && random.nextInt(1_000) == 0) {
          elected();
        }
        workloads.forEach(Workload::step);
        for (var one : workloads) {
          assertThat(workloads.stream().filter(other -> one.isOn && other.isOn)
              .noneMatch(other -> conflict(one, other))).as("%s is alone", one.id).isTrue();
          if (one.queued > 0) {
            assertThat(now - one.waitsSince).as("%s waits", one.id).isLessThan(2 * bound);
          }
        }
      }
      assertThat(workloads).allMatch(one -> one.queued == 0);
      assertThat(served).isPositive();
    }

    /** A new leader knows only what it reads. */
    private void elected() {
      arbiter = ConflictArbiter.EMPTY;
      workloads.forEach(one -> arbiter = arbiter.on(now, new Event.Configured(one.id,
          one.settings())));
    }
  }
}
