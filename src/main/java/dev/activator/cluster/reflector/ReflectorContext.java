package dev.activator.cluster.reflector;

import dev.activator.loop.Loop;
import java.util.random.RandomGenerator;

/**
 * What all reflectors of a session share.
 *
 * @param loop where its state lives
 * @param settings how it is supervised
 * @param random spreads what many activators would do at the same moment
 * @param errors puts failures into words
 */
public record ReflectorContext(Loop loop, ReflectorSettings settings, RandomGenerator random,
    ApiErrors errors) {}
