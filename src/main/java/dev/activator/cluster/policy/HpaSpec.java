package dev.activator.cluster.policy;

import dev.activator.revision.ScaleTargetRef;

/**
 * The facts of a HorizontalPodAutoscaler that matter here: what it scales, and down to how many.
 */
public record HpaSpec(String namespace, String name, ScaleTargetRef target, int minReplicas) {}
