package dev.activator.cluster.policy;

import dev.activator.revision.ScaleTargetRef;

/** A HorizontalPodAutoscaler: what it scales, and down to how many. */
public record Hpa(String namespace, String name, ScaleTargetRef target, int minReplicas) {}
