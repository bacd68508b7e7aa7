/** All that waits or repeats runs on a loop, so that tests control the time. */
@NullMarked
package dev.activator.loop;

import org.jspecify.annotations.NullMarked;
