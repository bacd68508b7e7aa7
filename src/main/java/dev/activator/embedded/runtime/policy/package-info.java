/**
 * What local runtimes decide: when a Service has a new revision, how a pod lives and ends, which of
 * several pods are stopped.
 */
@NullMarked
package dev.activator.embedded.runtime.policy;

import org.jspecify.annotations.NullMarked;
