package dev.activator.standalone.policy;

import dev.activator.revision.ScaleTargetRef;

/** A HorizontalPodAutoscaler: the workload that it scales, and its minimum. */
public record HpaSpec(String namespace, String name, ScaleTargetRef target, int minReplicas) {}
