package dev.activator.stats;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The connection to the autoscaler at one moment.
 *
 * @param url where the autoscaler is
 * @param connected whether there is an open connection
 * @param since how long that has been so; since the start, before the first one opened
 * @param failures attempts in a row that failed
 * @param problem why the last connection ended, or did not open; null while there is one
 */
public record LinkView(String url, boolean connected, Duration since, int failures,
    @Nullable String problem) {}
