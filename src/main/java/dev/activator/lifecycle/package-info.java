/**
 * Readiness, and the order in which parts start and stop.
 */
@NullMarked
package dev.activator.lifecycle;

import org.jspecify.annotations.NullMarked;
