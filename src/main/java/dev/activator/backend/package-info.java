/** Finds out which pods of each revision answer, and publishes that whenever it changes. */
@NullMarked
package dev.activator.backend;

import org.jspecify.annotations.NullMarked;
