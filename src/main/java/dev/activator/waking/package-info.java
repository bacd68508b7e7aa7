/**
 * Starts of revisions ahead of their requests: those that a started revision names, or is known to
 * call.
 */
@NullMarked
package dev.activator.waking;

import org.jspecify.annotations.NullMarked;
