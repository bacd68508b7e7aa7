/** Runs the revisions of the embedded API as local processes. */
@NullMarked
package dev.activator.embedded.runtime;

import org.jspecify.annotations.NullMarked;
