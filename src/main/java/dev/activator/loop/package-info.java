/**
 * Loops run tasks one at a time and tell the time. Everything that waits or repeats does so on one,
 * so that tests can move time by hand.
 */
@NullMarked
package dev.activator.loop;

import org.jspecify.annotations.NullMarked;
