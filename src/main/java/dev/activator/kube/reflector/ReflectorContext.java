package dev.activator.kube.reflector;

import dev.activator.loop.Loop;
import java.util.random.RandomGenerator;

/** The objects that all reflectors of a session share. */
public record ReflectorContext(Loop loop, ReflectorSettings settings, RandomGenerator random,
    ApiErrorText errors) {}
