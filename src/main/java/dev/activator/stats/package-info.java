/**
 * Tells the autoscaler how many requests each revision has here, once a second, and at once when an
 * idle revision gets its first.
 */
@NullMarked
package dev.activator.stats;

import org.jspecify.annotations.NullMarked;
