/**
 * What the autoscaler is told: how many requests each revision has here, once a second, and at once
 * when a revision that was idle gets its first.
 */
@NullMarked
package dev.activator.stats;

import org.jspecify.annotations.NullMarked;
