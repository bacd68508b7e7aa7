package dev.activator.console;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.Throttler;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Who is asked for what is so now.
 *
 * @param backends which pods answer
 * @param throttler who waits
 * @param link how the connection to the autoscaler is
 * @param api how the watches of the Kubernetes API are; answers at once, from any thread
 * @param loops where a revision's state lives
 */
public record Stages(RevisionBackendsManager backends, Throttler throttler,
    Supplier<CompletableFuture<AutoscalerLink.View>> link, Supplier<ApiState> api,
    Function<RevisionId, ? extends Loop> loops) {}
