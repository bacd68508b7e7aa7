/** Mode without Knative: ScaledServices, and the autoscaler that scales their workloads. */
@NullMarked
package dev.activator.standalone;

import org.jspecify.annotations.NullMarked;
