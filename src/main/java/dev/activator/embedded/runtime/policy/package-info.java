/** When a Service gets a new revision, how a pod lives and ends, and which pods are stopped. */
@NullMarked
package dev.activator.embedded.runtime.policy;

import org.jspecify.annotations.NullMarked;
