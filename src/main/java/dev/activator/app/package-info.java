/**
 * All code that uses Spring: the wiring, the order of start and stop, the ports for operators, and
 * the settings of each mode.
 */
@NullMarked
package dev.activator.app;

import org.jspecify.annotations.NullMarked;
