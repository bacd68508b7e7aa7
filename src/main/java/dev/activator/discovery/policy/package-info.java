/** Decisions of the package {@code discovery}, as functions of values. */
@NullMarked
package dev.activator.discovery.policy;

import org.jspecify.annotations.NullMarked;
