/** Decisions of the package {@code knative}, as functions of values. */
@NullMarked
package dev.activator.discovery.policy;

import org.jspecify.annotations.NullMarked;
