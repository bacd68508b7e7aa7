package dev.activator.embedded.runtime;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.util.function.BiPredicate;
import java.util.function.ToIntFunction;
import java.util.random.RandomGenerator;

/**
 * The dependencies of {@link LocalRuntime} on the rest of the activator.
 *
 * @param logsOutput whether the output of processes is logged
 * @param routable whether requests can be routed to the revision with this id and uid
 * @param inFlight the number of requests in flight on a pod; called on any thread
 */
public record LocalRuntimeDependencies(Clock clock, RandomGenerator random, boolean logsOutput,
    BiPredicate<RevisionId, String> routable,
    ToIntFunction<Destination> inFlight) {}
