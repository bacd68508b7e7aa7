/** Finds revisions and their pods, Knative's and those of a mode, and publishes their changes. */
@NullMarked
package dev.activator.discovery;

import org.jspecify.annotations.NullMarked;
