/**
 * Everything that knows Spring: the wiring, the order of start and stop, the port for operators,
 * and the platform of each mode.
 */
@NullMarked
package dev.activator.app;

import org.jspecify.annotations.NullMarked;
