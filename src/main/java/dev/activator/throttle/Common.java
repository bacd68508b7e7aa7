package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.policy.Tuning;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * What all revisions' throttles have in common.
 *
 * @param defaults what holds where a revision's annotations say nothing else
 * @param random drawn from by many threads at once
 * @param suspected told, on the revision's loop, of each destination that could not be reached
 * @param starved told, on the revision's loop, once a second while requests wait and nothing can run
 */
record Common(Tuning defaults, RandomGenerator random,
    BiConsumer<RevisionId, Destination> suspected, Consumer<RevisionId> starved) {}
