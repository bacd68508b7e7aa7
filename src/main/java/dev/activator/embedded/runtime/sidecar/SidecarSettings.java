package dev.activator.embedded.runtime.sidecar;

import dev.activator.embedded.runtime.policy.UserProbe;

/**
 * What a sidecar needs to know of its process.
 *
 * @param pod whose it is, for logs
 * @param processPort where the process listens, on the loopback address
 * @param containerConcurrency requests it runs at once; 0 means any number
 * @param probe how to find out whether it takes requests
 */
public record SidecarSettings(String pod, int processPort, int containerConcurrency,
    UserProbe probe) {}
