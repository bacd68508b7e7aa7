package dev.activator.revision;

import java.time.Instant;

/**
 * A {@code Lease} by which activators elect a leader.
 *
 * @param holder the identity of the leader; empty if it was released
 * @param durationSeconds after which another may take an unchanged lease
 * @param transitions how many times another took it: the number of the term
 * @param version the resourceVersion; empty in one that is to be created
 */
public record LeaseRecord(String holder, int durationSeconds, int transitions, Instant acquired,
    Instant renewed, String version) {}
