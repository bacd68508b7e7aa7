/**
 * Event loops and timers. All delayed and repeated work runs on a loop, so that tests control the
 * time.
 */
@NullMarked
package dev.activator.loop;

import org.jspecify.annotations.NullMarked;
