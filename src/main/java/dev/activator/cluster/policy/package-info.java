/** Decisions of the package {@code cluster}, as functions of values. */
@NullMarked
package dev.activator.cluster.policy;

import org.jspecify.annotations.NullMarked;
