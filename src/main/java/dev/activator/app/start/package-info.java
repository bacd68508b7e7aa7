/**
 * Before and around the wiring: the command line, the mode, the dry run, what is said when a start
 * fails, and how the process ends.
 */
@NullMarked
package dev.activator.app.start;

import org.jspecify.annotations.NullMarked;
