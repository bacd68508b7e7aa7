/**
 * Decisions of the runtime, as functions of values: new revisions, the states of a pod, and the
 * pods to create and stop.
 */
@NullMarked
package dev.activator.embedded.runtime.policy;

import org.jspecify.annotations.NullMarked;
