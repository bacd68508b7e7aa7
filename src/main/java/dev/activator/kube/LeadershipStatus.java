package dev.activator.kube;

import java.time.Duration;
import java.util.Map;

/**
 * A snapshot of the election of the activator that scales: the leader, the age of its lease, and
 * failures.
 *
 * @param pod the leader's pod; empty if there is no leader, or it is not known
 * @param here whether this activator is the leader
 * @param transitions how many times the lease has changed hands
 * @param leaseAge the time since a renewal of the lease was last observed
 * @param failures how many times the lease could not be read or written
 * @param problem the error of the last read or write of the lease; empty if it succeeded
 * @param writes the number of scales that this activator has written, by the result
 */
public record LeadershipStatus(String pod, boolean here, int transitions, Duration leaseAge,
    long failures, String problem, Map<String, Long> writes) {}
