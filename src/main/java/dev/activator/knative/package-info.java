/** Reads Knative's Revisions and what belongs to them, and publishes their changes. */
@NullMarked
package dev.activator.knative;

import org.jspecify.annotations.NullMarked;
