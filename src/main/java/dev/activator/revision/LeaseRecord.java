package dev.activator.revision;

import java.time.Instant;

/**
 * A {@code Lease} by which activators elect a leader.
 *
 * @param holder the identity of the leader; empty if it was released
 * @param durationSeconds how long the lease must be unchanged before another candidate may take it
 * @param transitions how often the lease has changed hands; used as the term number
 * @param version the resourceVersion; empty if the lease is to be created
 */
public record LeaseRecord(String holder, int durationSeconds, int transitions, Instant acquired,
    Instant renewed, String version) {}
