package dev.activator.ext.lending;

/**
 * Identifies one process of an activator. After a restart the activator is another peer at the same
 * address.
 *
 * @param address as in the public Endpoints of revisions
 * @param process differs between any two processes, including those of the same pod
 */
public record PeerId(String address, String process) {}
