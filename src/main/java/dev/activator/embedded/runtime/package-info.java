/** Runs the workloads of the embedded API as local processes: controllers, and a kubelet. */
@NullMarked
package dev.activator.embedded.runtime;

import org.jspecify.annotations.NullMarked;
