/** Starts of revisions ahead of their requests: those that a started revision names. */
@NullMarked
package dev.activator.ext.wakewith;

import org.jspecify.annotations.NullMarked;
