/** Sleep instead of the end of the last pods. */
@NullMarked
package dev.activator.ext.asleep;

import org.jspecify.annotations.NullMarked;
