package dev.activator.embedded.runtime;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.util.function.BiPredicate;
import java.util.function.ToIntFunction;
import java.util.random.RandomGenerator;

/**
 * What LocalRuntime needs from the rest of the process.
 *
 * @param logsOutput whether the log has the lines that processes print
 * @param routable whether the activator knows the revision with this id and uid
 * @param inFlight how many requests run on a pod; called on any thread
 */
public record LocalRuntimeDependencies(Clock clock, RandomGenerator random, boolean logsOutput,
    BiPredicate<RevisionId, String> routable,
    ToIntFunction<Destination> inFlight) {}
