/** Decisions on the number of pods that a revision should have. */
@NullMarked
package dev.activator.standalone.autoscaler.policy;

import org.jspecify.annotations.NullMarked;
