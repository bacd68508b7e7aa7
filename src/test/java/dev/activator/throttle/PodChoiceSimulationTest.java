package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.C;
import static dev.activator.throttle.OneRevision.ID;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests of several tenants that may run on some pods, which come, go and leave as they like. */
class PodChoiceSimulationTest {
  private static final int SEEDS = 100;
  private static final int STEPS = 150;
  private static final List<Destination> PODS = List.of(A, B, C);

  /** @param pods empty if it may run on any */
  private record Choice(String tenant, Set<Destination> pods) implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> now) {
      return pods.isEmpty() ? ANY : new AnyOf(pods);
    }

    @Override
    public long score(Destination pod) {
      return -PODS.indexOf(pod);
    }

    boolean allows(Destination pod) {
      return pods.isEmpty() || pods.contains(pod);
    }
  }

  private static final class Run {
    private final Random random;
    private final boolean exclusive;
    private final int limit;
    private final OneRevision rev;
    private final List<HeldRequest> all = new ArrayList<>();
    private Set<Destination> pods = Set.of();

    Run(long seed, boolean exclusive, int limit) {
      this.random = new Random(seed);
      this.exclusive = exclusive;
      this.limit = limit;
      this.rev = new OneRevision(limit);
      rev.throttler.choose(rev.revisions.of(ID), new PodChoice.Maker() {
        @Override
        public @Nullable PodChoice of(QueuedCaller caller) {
          return ((HeldRequest) caller).choice();
        }

        @Override
        public boolean isExclusive() {
          return exclusive;
        }
      });
      rev.loop.run();
    }

    private Set<Destination> some() {
      var some = new HashSet<Destination>();
      PODS.stream().filter(_ -> random.nextBoolean()).forEach(some::add);
      return some;
    }

    void step() {
      rev.loop.advance(Duration.ofMillis(1));
      switch (random.nextInt(10)) {
        case 0 -> {
          pods = some();
          rev.pods(pods.toArray(Destination[]::new));
          for (var one : running()) {
            if (!pods.contains(one.destination())) {
              all.remove(one);
              one.release();
            }
          }
        }
        case 1, 2, 3, 4 -> all.add(rev.request(
            new Choice(List.of("red", "blue", "green").get(random.nextInt(3)), some())));
        case 5 -> one(waiting()).forEach(HeldRequest::giveUp);
        default -> one(running()).forEach(HeldRequest::release);
      }
      rev.loop.run();
      all.removeIf(one -> !one.waits() && !one.runs());
    }

    private Stream<HeldRequest> one(List<HeldRequest> of) {
      if (of.isEmpty()) {
        return Stream.empty();
      }
      var chosen = of.get(random.nextInt(of.size()));
      all.remove(chosen);
      return Stream.of(chosen);
    }

    private List<HeldRequest> waiting() {
      return all.stream().filter(HeldRequest::waits).toList();
    }

    private List<HeldRequest> running() {
      return all.stream().filter(HeldRequest::runs).toList();
    }

    private List<HeldRequest> on(Destination pod) {
      return running().stream().filter(one -> pod.equals(one.destination())).toList();
    }

    private static Choice choice(HeldRequest request) {
      return (Choice) request.choice();
    }

    void check() {
      for (var one : running()) {
        assertThat(choice(one).allows(one.destination())).isTrue();
      }
      for (var pod : pods) {
        var here = on(pod);
        if (!exclusive) {
          assertThat(here.size()).isLessThanOrEqualTo(limit);
          if (here.size() < limit) {
            assertThat(waiting()).noneMatch(one -> choice(one).allows(pod));
          }
        } else {
          assertThat(here.stream().map(one -> choice(one).tenant()).distinct().count())
              .isLessThanOrEqualTo(1);
        }
      }
      if (exclusive) {
        Stream.of("red", "blue", "green").forEach(this::checkTenant);
      }
    }

    private void checkTenant(String tenant) {
      var waits = waiting().stream().filter(one -> choice(one).tenant().equals(tenant)).toList();
      var its = pods.stream().filter(pod -> on(pod).stream()
          .anyMatch(one -> choice(one).tenant().equals(tenant))).toList();
      var usable = its.isEmpty()
          ? pods.stream().filter(pod -> on(pod).isEmpty()).toList()
          : its.stream().filter(pod -> on(pod).size() < limit).toList();
      assertThat(its).hasSizeLessThanOrEqualTo(1);
      if (!waits.isEmpty()) {
        // The first of them may wait for another pod, and the others wait behind it.
        assertThat(waits).anyMatch(one -> usable.stream().noneMatch(choice(one)::allows));
      }
    }

    void end() {
      pods = Set.copyOf(PODS);
      rev.pods(A, B, C);
      for (int i = 0; i < 1_000 && !all.isEmpty(); i++) {
        one(running()).forEach(HeldRequest::release);
        rev.loop.run();
        check();
      }
      assertThat(all).isEmpty();
      assertThat(rev.view().queued()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({"false, 1", "false, 2", "true, 1", "true, 2"})
  void noneWaitsBesideAPodThatItMayUse(boolean exclusive, int limit) {
    for (long seed = 0; seed < SEEDS; seed++) {
      var run = new Run(seed, exclusive, limit);
      int step = 0;
      try {
        for (; step < STEPS; step++) {
          run.step();
          run.check();
        }
        run.end();
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed + ", step " + step, e);
      }
    }
  }
}
