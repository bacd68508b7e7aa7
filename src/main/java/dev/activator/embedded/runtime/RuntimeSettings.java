package dev.activator.embedded.runtime;

import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.random.RandomGenerator;

/**
 * What a local runtime needs to know of its surroundings.
 *
 * @param activator where the activator takes HTTP/1.1; the port of every Service's URL
 * @param clock for timestamps in objects
 * @param random for the names of pods
 */
public record RuntimeSettings(InetSocketAddress activator, Clock clock, RandomGenerator random) {}
