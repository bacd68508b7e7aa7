/** Readiness, and start and stop order. */
@NullMarked
package dev.activator.lifecycle;

import org.jspecify.annotations.NullMarked;
