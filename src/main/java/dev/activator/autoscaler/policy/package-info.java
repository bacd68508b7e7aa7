/** Decisions on the number of pods that a revision should have. */
@NullMarked
package dev.activator.autoscaler.policy;

import org.jspecify.annotations.NullMarked;
