package dev.activator.lending;

/**
 * One process of an activator. One that restarts is another peer, at the same address.
 *
 * @param address as in the public Endpoints of revisions
 * @param process differs between any two processes, those of one pod included
 */
public record PeerId(String address, String process) {}
