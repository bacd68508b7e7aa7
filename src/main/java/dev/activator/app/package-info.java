/**
 * Everything that knows Spring: the wiring, the order of start and stop, the port for operators, and
 * what is around the activator in each mode.
 */
@NullMarked
package dev.activator.app;

import org.jspecify.annotations.NullMarked;
