package dev.activator.backend;

import dev.activator.backend.policy.WatcherEvent;
import dev.activator.backend.policy.WatcherState;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;

/**
 * What all watchers share.
 *
 * @param turns who may probe when
 * @param random spreads pauses; one that several threads may use
 * @param policy what a watcher does next
 * @param policyFailures how often {@code policy} threw, and a watcher began again
 */
record Shared(ProbeTurns turns, RandomGenerator random, Policy policy, LongAdder policyFailures) {
  /** {@link WatcherState#on}, except in tests of what happens when that is wrong. */
  @FunctionalInterface
  interface Policy {
    WatcherState.Step step(WatcherState state, WatcherEvent event, Duration now);
  }

  static Shared of(ProbeTurns turns, RandomGenerator random) {
    return new Shared(turns, random, WatcherState::on, new LongAdder());
  }
}
