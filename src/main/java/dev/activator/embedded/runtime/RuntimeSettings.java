package dev.activator.embedded.runtime;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.util.function.ToIntBiFunction;
import java.util.random.RandomGenerator;

/**
 * @param clock for timestamps in objects
 * @param random for the names and ports of pods
 * @param maxPods for a revision that names no maximum
 * @param inFlight how many requests of a revision run on a pod; any thread may ask
 */
public record RuntimeSettings(Clock clock, RandomGenerator random,
    ToIntBiFunction<RevisionId, Destination> inFlight) {}
