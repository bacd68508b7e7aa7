package dev.activator.embedded.runtime;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.util.function.ToIntBiFunction;
import java.util.random.RandomGenerator;

/**
 * What a local runtime is given.
 *
 * @param clock for timestamps in objects
 * @param random for the names of pods, and their ports
 * @param maxPods the most pods of a revision that names no maximum
 * @param logsOutput whether the log has what processes print
 * @param inFlight how many requests of a revision run on a pod; may be asked from any thread
 */
public record RuntimeSettings(Clock clock, RandomGenerator random, int maxPods, boolean logsOutput,
    ToIntBiFunction<RevisionId, Destination> inFlight) {}
