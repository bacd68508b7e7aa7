package dev.activator.autoscaler;

import java.time.Duration;
import java.util.Map;

/**
 * A snapshot of the election of the activator that scales: who leads, for how long, and what
 * failed.
 *
 * @param pod of the leader; empty if none leads, or that is not known
 * @param here whether it is this activator
 * @param transitions how many times the lease has changed hands
 * @param leaseAge since the lease was last seen to be renewed
 * @param failures how many times the lease could not be read or written
 * @param problem why it could not the last time; empty if it could
 * @param writes of scales by this activator, by their result
 */
public record LeadershipStatus(String pod, boolean here, int transitions, Duration leaseAge,
    long failures, String problem, Map<String, Long> writes) {}
