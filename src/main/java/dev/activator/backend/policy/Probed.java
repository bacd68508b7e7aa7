package dev.activator.backend.policy;

import java.time.Duration;

/**
 * The last probe of an address that came to its end.
 *
 * @param outcome what it said
 * @param at when that was, since some origin
 * @param took from its start to its end
 */
public record Probed(ProbeOutcome outcome, Duration at, Duration took) {}
