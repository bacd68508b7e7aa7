/**
 * What a local Knative decides: which objects a Service brings, how a pod lives and dies, what a
 * sidecar answers to a probe. All of it is functions of values.
 */
@NullMarked
package dev.activator.embedded.runtime.policy;

import org.jspecify.annotations.NullMarked;
