package dev.activator.embedded.runtime;

import java.time.Clock;
import java.util.random.RandomGenerator;

/**
 * What a local runtime needs to know of its surroundings.
 *
 * @param clock for timestamps in objects
 * @param random for the names of pods
 * @param maxPods the most pods of a revision that names no maximum
 */
public record RuntimeSettings(Clock clock, RandomGenerator random, int maxPods) {}
