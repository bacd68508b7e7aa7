/**
 * Runs the revisions of the embedded API as processes of this machine: what the kubelet does in a
 * cluster.
 */
@NullMarked
package dev.activator.embedded.runtime;

import org.jspecify.annotations.NullMarked;
